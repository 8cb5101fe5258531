"""Usage: cluster.py HOST PORT. Adds and queries a key of 100 filters, prints "half", waits for a line on standard input, and
does it again with another key."""
import sys

from redis.cluster import RedisCluster

c = RedisCluster(host=sys.argv[1], port=int(sys.argv[2]))
for key in ["first", "second"]:
    for i in range(100):
        name = "redis-py-%d" % i
        assert c.execute_command("BF.ADD", name, key) == 1, name
        assert c.execute_command("BF.EXISTS", name, key) == 1, name
        assert c.execute_command("BF.EXISTS", name, "absent") == 0, name
    if key == "first":
        print("half", flush=True)
        sys.stdin.readline()
