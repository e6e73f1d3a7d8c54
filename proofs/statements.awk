# Prints the theorems between marks, each with the hypotheses of the sections that are open there; or,
# with -v asked=definitions, what is defined there.
# Between marks every sentence begins at the margin, with one of the words below: a statement of
# another kind would not be asked about, and an assumption of another kind not be looked for.
FNR == 1 { depth = marked = 0 }
/^Section / { hypotheses[++depth] = "" }
/^End / { depth-- }
/^Hypothesis / { hypotheses[depth] = hypotheses[depth] " " $2 }
/^\(\* begin / { marked = 1 }
/^\(\* end / { marked = 0 }

marked && /^[^ (]/ && !/^(Theorem|Definition|Fixpoint|Inductive|Record|Variables?|Hypothesis) / { refuse() }
marked && /^ +(Theorem|Definition|Fixpoint|Inductive|Record|Variables?|Hypothesis) / { refuse() }
marked && /\. +(Theorem|Lemma|Variables?|Hypothesis) [^ ]+ .*:/ { refuse() }

# Outside sections these go with the file, and could have Coq print what is not so.
depth == 0 && /(Notation|Infix) "[^$]|Coercion|Canonical/ && !/^Local Notation/ && !/^ *\(\*/ { refuse() }

marked && asked == "definitions" && /^(Definition|Fixpoint|Inductive|Record) / { print module() "." $2 }

marked && asked != "definitions" && /^Theorem / {
  assumed = ""
  for (i = 1; i <= depth; i++) assumed = assumed hypotheses[i]
  print module() "." $2 assumed
}

function module(file) {
  file = FILENAME
  sub(/\.v$/, "", file)
  gsub("/", ".", file)
  return file
}

function refuse() {
  print FILENAME ":" FNR ": between marks stand theorems, definitions and variables, and notations in sections: " $0 > "/dev/stderr"
  refused = 1
}

END { exit refused }
