"""Usage: client.py HOST PORT. Fails if a reply differs from RedisBloom's."""
import sys

import redis

c = redis.Redis(host=sys.argv[1], port=int(sys.argv[2]))
bf = c.bf()
assert bf.create("redis-py", 0.01, 1000)
assert bf.add("redis-py", "a") == 1
assert bf.madd("redis-py", "a", "b", "b") == [0, 1, 0]
assert bf.mexists("redis-py", "b", "z") == [1, 0]
info = bf.info("redis-py")
assert info.capacity == 1000 and info.insertedNum == 2, vars(info)
try:
    bf.create("redis-py", 0.01, 1000)
    raise AssertionError("created twice")
except redis.ResponseError as e:
    assert str(e) == "item exists", e

# A pipeline is a transaction by default.
pipe = c.pipeline()
pipe.execute_command("BF.ADD", "redis-py", "p")
pipe.execute_command("BF.EXISTS", "redis-py", "p")
assert pipe.execute() == [1, 1]

cursor = 0
while True:
    cursor, data = bf.scandump("redis-py", cursor)
    if cursor == 0:
        break
    assert bf.loadchunk("redis-py-copy", cursor, data)
assert bf.mexists("redis-py-copy", "a", "b", "p", "z") == [1, 1, 1, 0]
