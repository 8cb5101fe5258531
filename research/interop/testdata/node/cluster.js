// Usage: node cluster.js CLIENT HOST PORT. Adds and queries a key of 100 filters, prints "half", waits for a line on standard input,
// and does it again with another key.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createCluster } from 'redis'
import Redis from 'ioredis'
import Valkey from 'iovalkey'

const [client, host, port] = process.argv.slice(2)

const clients = {
  'node-redis': async () => {
    const c = createCluster({ rootNodes: [{ url: `redis://${host}:${port}` }] })
    c.on('error', (err) => { throw err })
    await c.connect()
    return { add: (name, key) => c.bf.add(name, key), has: (name, key) => c.bf.exists(name, key), close: () => c.close() }
  },
  'ioredis': () => called(new Redis.Cluster([{ host, port: Number(port) }])),
  'iovalkey': () => called(new Valkey.Cluster([{ host, port: Number(port) }])),
}

// called is a client that has no methods for BF.*.
async function called(c) {
  const yes = async (reply) => [1, true].includes(await reply)
  return { add: (name, key) => yes(c.call('BF.ADD', name, key)), has: (name, key) => yes(c.call('BF.EXISTS', name, key)), close: () => c.quit() }
}

const c = await clients[client]()
for (const key of ['first', 'second']) {
  for (let i = 0; i < 100; i++) {
    const name = `${client}-${i}`
    assert.equal(await c.add(name, key), true, `add to ${name}`)
    assert.equal(await c.has(name, key), true, `query of ${name}`)
    assert.equal(await c.has(name, 'absent'), false, `query of ${name}`)
  }
  if (key === 'first') {
    console.log('half')
    await once(process.stdin, 'data')
    process.stdin.pause()
  }
}
await c.close()
