import { httpLink } from '@gatehouse/testkit/fake-service/fake-link'
import { openNode } from './node.ts'

// Buffers and runs writes until it is killed. Told to go, so that it can be started ahead of time.
const [folder = '', url = '', run = ''] = process.argv.slice(2)
console.log('loaded')
await new Promise((resolve) => process.stdin.once('data', resolve))
const node = await openNode(folder, httpLink(url))
const pending = async () => {
  const page = { statuses: ['buffered', 'executing'], limit: 1, offset: 0 } as const
  return (await node.storage.writes.list(page)).total
}
for (let n = 0; ; n += 1) {
  // Each kill leaves some behind; they must not pile up from life to life.
  while ((await pending()) > 20) await new Promise((resolve) => setTimeout(resolve, 2))
  const operation = ['send', 'put', 'blind'][n % 3] ?? 'send'
  const name = `${run}-${n}`
  const args = operation === 'put' ? { collection: 'things', id: name, value: 'v' } : { text: name }
  console.log(`buffered ${operation} ${await node.buffer(operation, args)}`)
  await new Promise((resolve) => setTimeout(resolve, 1))
}
