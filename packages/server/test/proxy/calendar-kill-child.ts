import { createCalendarAdapter } from '../../src/proxy/adapters/calendar/calendar-adapter.ts'
import { calendarConnect, creationOf } from './calendar-writes.ts'
import { openNode } from './node.ts'

// Buffers and runs events until it is killed. Told to go, so that it can be started ahead of time.
const [folder = '', url = '', run = ''] = process.argv.slice(2)
console.log('loaded')
await new Promise((resolve) => process.stdin.once('data', resolve))
const node = await openNode(folder, {
  adapter: createCalendarAdapter(),
  connect: calendarConnect(url),
})
for (let n = 0; ; n += 1) {
  const uid = `${run}-${n}`
  console.log(`buffered ${uid} ${await node.buffer('create', creationOf(uid))}`)
  await new Promise((resolve) => setTimeout(resolve, 5))
}
