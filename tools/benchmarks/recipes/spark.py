"""A private mean of a Parquet file, by Spark: python spark.py FILE, or spark-submit."""

import sys

import ibis
from pyspark.sql import SparkSession

from userdp import release

session = SparkSession.builder.appName("private mean").getOrCreate()
records = ibis.pyspark.connect(session).read_parquet(sys.argv[1])
how = {"outside": "clamp", "missing": "centre"}
print(release.private_mean("user", "value", lower=0, upper=65, budget=0.3, data=records, **how))
session.stop()
