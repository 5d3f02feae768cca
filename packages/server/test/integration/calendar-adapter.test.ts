import { createIds } from '@gatehouse/server/platform/ids'
import type { JsonObject } from '@gatehouse/server/ports/json'
import { createCalendarAdapter } from '@gatehouse/server/proxy/adapters/calendar/calendar-adapter'
import { HttpGate } from '@gatehouse/testkit/caldav-server/http-gate'
import { Radicale } from '@gatehouse/testkit/caldav-server/radicale'
import { describeServiceAdapter } from '@gatehouse/testkit/fake-service'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe } from 'vitest'
import { CalendarRig, connectionTo, creation, icsText, plainSettings } from '../calendar/kit.ts'

// Conformance of the calendar adapter, against a real server.
describe.skipIf(!hasProgram('radicale'))('calendars', () => {
  let server: Radicale
  beforeAll(async () => {
    server = await Radicale.start()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  let opened = 0
  describeServiceAdapter('calendars', async () => {
    // Each test has a calendar of its own, of a server that all share.
    opened += 1
    const id = `work-${opened}`
    const calendar = server.calendar(id)
    const path = `/ana/${id}/`
    const gate = await HttpGate.open(server.port)
    const settings = plainSettings(gate.port, { url: `${gate.url}ana/${id}/` })
    const ids = createIds()
    let count = 0
    const add = () => {
      count += 1
      return server.store(id, `e-${count}.ics`, icsText(`e-${count}@x.example`, `Event ${count}`))
    }
    for (let n = 0; n < 3; n += 1) await add()
    return {
      adapter: createCalendarAdapter(),
      connection: connectionTo(settings),
      wrong: { connection: connectionTo(settings, 'no-such-password'), secret: 'no-such-password' },
      writeId: () => ids.next('wr'),
      snapshot: async () => calendar.list(),
      samples: async () => {
        await using rig = await CalendarRig.open(settings)
        await rig.sync()
        return [
          { operation: 'create', arguments: creation(path) },
          {
            operation: 'update',
            arguments: {
              ...(await rig.existing(path, 'Event 1')),
              changes: { title: 'Moved', location: 'Elsewhere' },
            },
          },
          { operation: 'delete', arguments: await rig.existing(path, 'Event 2') },
        ]
      },
      interfere: async ({ arguments: args }) => {
        const { href, uid } = args as JsonObject
        const name = decodeURIComponent(String(href).split('/').at(-1) ?? '')
        await server.store(id, name, icsText(String(uid), 'Meanwhile'))
      },
      add,
      reachable: (yes) => (yes ? gate.up() : gate.down()),
      [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose](),
    }
  })
})
