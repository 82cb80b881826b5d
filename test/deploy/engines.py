"""Runs SQL in an engine of PyPI: chdb, or pyspark with two workers. Reads {"setup": [], "queries": []} and writes the rows."""

import json
import os
import sys


def run_chdb(setup, queries):
    from chdb import session

    own = session.Session()
    for statement in setup:
        own.query(statement)
    return [json.loads(own.query(query, 'JSONCompactStrings').bytes())['data'] for query in queries]


def run_spark(setup, queries):
    import pyspark
    from pyspark.sql import SparkSession

    settings = {
        'spark.ui.enabled': 'false',
        'spark.driver.host': '127.0.0.1',
        'spark.driver.bindAddress': '127.0.0.1',
        'spark.driver.memory': '2g',
        'spark.executor.memory': '2g',
        'spark.log.level': 'ERROR',
    }
    # Processes of their own, which find Spark where Python has it.
    os.environ.setdefault('SPARK_HOME', os.path.dirname(pyspark.__file__))
    builder = SparkSession.builder.master('local-cluster[2,1,2048]')
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for statement in setup:
        spark.sql(statement)
    rows = [[list(map(str, row)) for row in spark.sql(query).collect()] for query in queries]
    spark.stop()
    return rows


asked = json.load(sys.stdin)
found = {'chdb': run_chdb, 'spark': run_spark}[sys.argv[1]](asked['setup'], asked['queries'])
json.dump(found, sys.stdout)
