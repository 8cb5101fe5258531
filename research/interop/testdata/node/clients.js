// Usage: node clients.js CLIENT HOST PORT. Fails if a reply differs from RedisBloom's.
import assert from 'node:assert/strict'
import { createClient, RESP_TYPES } from 'redis'
import Redis from 'ioredis'

const [client, host, port] = process.argv.slice(2)

async function nodeRedis(RESP) {
  const c = createClient({ socket: { host, port: Number(port) }, RESP })
  c.on('error', (err) => { throw err })
  await c.connect()
  const key = `node-redis-${RESP}`
  assert.equal(await c.bf.reserve(key, 0.01, 1000), 'OK')
  assert.equal(await c.bf.add(key, 'a'), true)
  assert.deepEqual(await c.bf.mAdd(key, ['a', 'b', 'b']), [false, true, false])
  assert.equal(await c.bf.exists(key, 'b'), true)
  assert.deepEqual(await c.bf.mExists(key, ['a', 'z']), [true, false])
  const info = await c.bf.info(key)
  assert.equal(info['Capacity'], 1000)
  assert.equal(info['Number of items inserted'], 2)
  assert.equal(await c.bf.card(key), 2)
  await assert.rejects(c.bf.reserve(key, 0.01, 1000), /item exists/)
  const bytes = c.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  for (let iterator = 0; ;) {
    const chunk = await bytes.bf.scanDump(key, iterator)
    if (chunk.iterator === 0) break
    assert.equal(await c.bf.loadChunk(`${key}-copy`, chunk.iterator, chunk.chunk), 'OK')
    iterator = chunk.iterator
  }
  assert.deepEqual(await c.bf.mExists(`${key}-copy`, ['a', 'b', 'z']), [true, true, false])
  assert.deepEqual(await c.multi().bf.add(key, 'm').bf.exists(key, 'm').exec(), [true, true])
  await c.close()
}

async function ioredis(protocol) {
  const c = new Redis({ host, port: Number(port), ...(protocol && { protocol }) })
  const key = `ioredis-${protocol}`
  const positive = (v) => assert.ok(v === 1 || v === true, `${v}`)
  const negative = (v) => assert.ok(v === 0 || v === false, `${v}`)
  positive(await c.call('BF.ADD', key, 'a'))
  negative(await c.call('BF.ADD', key, 'a'))
  positive(await c.call('BF.EXISTS', key, Buffer.from('a')))
  const pipeline = c.pipeline()
  for (let i = 0; i < 1000; i++) pipeline.call('BF.ADD', key, `k${i % 500}`)
  const replies = await pipeline.exec()
  assert.equal(replies.length, 1000)
  for (const [err] of replies) assert.equal(err, null)
  for (const [, v] of replies.slice(500)) negative(v)
  const [, data] = await c.callBuffer('BF.SCANDUMP', key, 0)
  assert.equal(data.readUInt32LE(8), 3) // layers
  await assert.rejects(c.call('BF.INFO', 'nowhere'), /not found/)
  await c.quit()
}

const clients = {
  'node-redis-2': () => nodeRedis(2),
  'node-redis-3': () => nodeRedis(3),
  'ioredis': () => ioredis(),
}
await clients[client]()
