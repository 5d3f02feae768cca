import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@gatehouse/server/ports/json'
import { createCalendarAdapter } from '@gatehouse/server/proxy/adapters/calendar/calendar-adapter'
import { HttpGate, type PassingRequest } from '@gatehouse/testkit/caldav-server/http-gate'
import { Radicale } from '@gatehouse/testkit/caldav-server/radicale'
import { makeCertificate } from '@gatehouse/testkit/mail-server/certificate'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  CalendarRig,
  connectionTo,
  creation,
  icsText,
  never,
  plainSettings,
} from '../calendar/kit.ts'

const event = (n: number, title = `Event ${n}`) => icsText(`e-${n}@x`, title)
const titles = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => `Event ${n + from}`).toSorted()

describe.skipIf(!hasProgram('radicale'))('calendars at a real server', () => {
  let server: Radicale
  let opened = 0
  beforeAll(async () => {
    server = await Radicale.start()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  /** A calendar of its own behind a gate, with some events. */
  const fresh = async (count: number) => {
    opened += 1
    const id = `sync-${opened}`
    const calendar = server.calendar(id, `Calendar ${opened}`)
    for (let n = 1; n <= count; n += 1) calendar.put(`e-${n}.ics`, event(n))
    const gate = await HttpGate.open(server.port)
    const settings = plainSettings(gate.port, { url: `${gate.url}ana/${id}/` })
    const rig = await CalendarRig.open(settings)
    const path = `/ana/${id}/`
    return {
      ...{ id, calendar, gate, settings, rig, path },
      [Symbol.asyncDispose]: async () => {
        await rig[Symbol.asyncDispose]()
        await gate[Symbol.asyncDispose]()
      },
    }
  }

  const reports = (seen: readonly PassingRequest[], kind: string) =>
    seen.filter(({ body }) => body.includes(kind)).length

  test('are found from the address of the server alone, and told with their names', async () => {
    server.calendar('private', 'Privat')
    await using rig = await CalendarRig.open(plainSettings(server.port, { skip_calendars: ['x'] }))
    await rig.sync()
    const [entry] = await rig.list('calendars\n')
    expect(entry?.body['calendars']).toContainEqual({
      path: '/ana/private/',
      id: 'private',
      name: 'Privat',
      description: '',
      writable: true,
    })
  })

  test.for([
    ['with its own count of changes', () => null],
    [
      'by comparing versions',
      ({ body }: PassingRequest) =>
        body.includes('sync-collection') ? ({ kind: 'answer', status: 403 } as const) : null,
    ],
  ] as const)(
    'a later run brings what came, went and changed, and nothing else: %s',
    async ([, decide]) => {
      await using box = await fresh(120)
      const { rig, path, calendar, gate } = box
      gate.decide = decide
      expect(await rig.sync()).toBe(120 + 1)
      expect(await rig.titles(path)).toEqual(titles(1, 120))
      expect(await rig.sync()).toBe(1)
      calendar.put('e-3.ics', event(3, 'Renamed'))
      calendar.remove('e-5.ics')
      calendar.put('new.ics', event(121))
      calendar.put('task.ics', icsText('t@x', 'A task').replaceAll('VEVENT', 'VTODO'))
      gate.seen.length = 0
      expect(await rig.sync()).toBe(2 + 1)
      expect(reports(gate.seen, 'calendar-multiget')).toBe(1)
      const left = titles(1, 121).filter((one) => !['Event 3', 'Event 5'].includes(one))
      expect(await rig.titles(path)).toEqual([...left, 'Renamed'])
      expect(await rig.sync()).toBe(1)
    },
  )

  test('a token that the server has forgotten leads to a whole run', async () => {
    await using box = await fresh(4)
    const { rig, path, calendar } = box
    await rig.sync()
    calendar.remove('e-1.ics')
    calendar.put('e-9.ics', event(9))
    rig.cursor = (rig.cursor ?? '').replace(/sync\/[0-9a-f]+/, `sync/${'0'.repeat(64)}`)
    await rig.sync()
    expect(await rig.titles(path)).toEqual(['Event 2', 'Event 3', 'Event 4', 'Event 9'])
  })

  test('a run that was cut off in the middle of a calendar leaves nothing that is gone', async () => {
    await using box = await fresh(110)
    const { rig, path, calendar, gate } = box
    // Radicale tells of what is gone even to who asks for everything; others do not.
    gate.decide = ({ body }) =>
      body.includes('sync-collection') ? { kind: 'answer', status: 403 } : null
    await rig.sync(2)
    expect((await rig.list(path)).length).toBe(50)
    // Of those that were read, so that a trace of them would show.
    const read = await rig.titles(path)
    for (const title of read.slice(0, 20)) calendar.remove(`e-${title.split(' ')[1]}.ics`)
    await rig.sync()
    expect(await rig.titles(path)).toEqual(
      titles(1, 110).filter((one) => !read.slice(0, 20).includes(one)),
    )
  })

  test('an answer that is cut off or garbled in the middle loses nothing for good', async () => {
    await using box = await fresh(60)
    const { rig, path, gate } = box
    for (const when of ['before', 'after', 'within'] as const) {
      gate.decide = ({ body }) =>
        body.includes('calendar-multiget') ? { kind: 'cut', when } : null
      await expect(rig.sync()).rejects.toMatchObject({ type: 'ServiceUnavailable' })
    }
    gate.decide = () => null
    await rig.sync()
    expect(await rig.titles(path)).toEqual(titles(1, 60))
  })

  test('events that mean harm are left out or shown safely, and keep no other from being read', async () => {
    await using box = await fresh(2)
    const { rig, path, gate } = box
    const hostile: Record<string, string> = {
      'deep.ics': `BEGIN:VCALENDAR\n${'BEGIN:X\n'.repeat(5_000)}`,
      'huge.ics': icsText('huge', 'Huge', [`DESCRIPTION:${'x'.repeat(800_000)}`]),
      'endless.ics': icsText('endless', 'Endless', ['RRULE:FREQ=SECONDLY']),
      'never.ics': icsText('never', 'Never', ['RRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30']),
      'hidden.ics': icsText('hidden', 'a\u202eb\u0007c'),
      'date.ics': icsText('date', 'Date', ['DTSTART:99999999T999999Z']),
      'crowd.ics': icsText('crowd', 'Crowd', Array(2_000).fill('ATTENDEE:mailto:a@example.net')),
    }
    const responses = Object.entries(hostile).map(
      ([name, ics]) =>
        `<response><href>${path}${name}</href><propstat><prop><getetag>"1"</getetag><calendar-data><![CDATA[${ics}]]></calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>`,
    )
    const stray = `<response><href>/ana/other/x.ics</href><propstat><prop><getetag>"1"</getetag><calendar-data>${icsText('stray', 'Stray')}</calendar-data></prop></propstat></response>`
    gate.decide = ({ body }) =>
      body.includes('calendar-multiget')
        ? {
            kind: 'answer',
            status: 207,
            headers: { 'content-type': 'application/xml' },
            body: `<multistatus xmlns="DAV:">${responses.join('')}${stray}</multistatus>`,
          }
        : null
    await rig.sync()
    expect(await rig.titles(path)).toEqual(['Crowd', 'Endless', 'Huge', 'Never', 'abc'])
    for (const { body } of await rig.list(path))
      expect(JSON.stringify(body).length).toBeLessThan(700_000)
  })

  test('an event that makes answers unreadable is left out alone; where all do, the copy stays', async () => {
    await using box = await fresh(9)
    const { rig, path, gate } = box
    const garbled = { kind: 'answer', status: 207, body: '<!DOCTYPE x><multistatus/>' } as const
    gate.decide = ({ body }) => (body.includes('e-4.ics</d:href>') ? garbled : null)
    await rig.sync()
    expect(await rig.titles(path)).toEqual(titles(1, 9).filter((one) => one !== 'Event 4'))
    gate.decide = ({ body }) => (body.includes('calendar-multiget') ? garbled : null)
    rig.cursor = null
    await expect(rig.sync()).rejects.toMatchObject({ type: 'ServiceUnavailable' })
    expect(await rig.titles(path)).toHaveLength(8)
  })

  test('a server that leads elsewhere is not followed with the password', async () => {
    await using other = await HttpGate.open(server.port)
    await using box = await fresh(1)
    const { gate, settings } = box
    gate.decide = () => ({
      kind: 'answer',
      status: 302,
      headers: { location: `http://127.0.0.1:${other.port}/` },
    })
    const checks = await createCalendarAdapter().test(connectionTo(settings), never)
    expect(checks.find(({ ok }) => !ok)?.detail).toContain('the password may not be sent')
    expect(other.seen).toEqual([])
  })

  test('testing a connection names what is wrong', async () => {
    await using box = await fresh(1)
    const { gate, settings } = box
    const wrong = async (change: object = {}, password?: string) =>
      (
        await createCalendarAdapter().test(
          connectionTo({ ...settings, ...change }, password),
          never,
        )
      )
        .filter(({ ok }) => !ok)
        .map(({ name, detail }) => `${name}: ${detail}`)
        .join()
    expect(await wrong()).toBe('')
    expect(await wrong({}, 'wrong')).toContain('CalDAV login: 127.0.0.1')
    expect(await wrong({ url: `${gate.url}ana/none/` })).toContain('knows no such address')
    expect(await wrong({ url: `https://127.0.0.1:${gate.port}/` })).toContain('not with TLS')
    expect(await wrong({ url: 'https://no-such-host.invalid/' })).toMatch(/host|looked up/)
    gate.decide = () => ({ kind: 'answer', status: 405 })
    expect(await wrong()).toContain('does not speak CalDAV')
    await gate.down()
    expect(await wrong()).toContain('nobody listens there')
  })

  test('a certificate that nobody vouches for is refused, one of a named authority is not', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-calendar-'))
    const { cert, key } = await makeCertificate(folder)
    const asked: string[] = []
    const secure = createServer({ cert, key }, (request, answer) => {
      asked.push(request.headers.authorization ?? '')
      answer.writeHead(404).end()
    })
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
    const { port } = secure.address() as AddressInfo
    const check = async (change: JsonObject) => {
      const settings = plainSettings(1, { url: `https://localhost:${port}/`, ...change })
      const checks = await createCalendarAdapter().test(connectionTo(settings), never)
      return checks.find(({ ok }) => !ok)?.detail
    }
    try {
      expect(await check({})).toContain('is not trusted')
      expect(asked).toEqual([])
      expect(await check({ ca_certificate: cert })).toContain('knows no such address')
      expect(asked.length).toBeGreaterThan(0)
    } finally {
      secure.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test.for([
    ['http://caldav.example.org/', {}, 'password in the clear'],
    ['http://caldav.example.org/', { allow_plain: true }, null],
    ['http://localhost:5232/', {}, null],
    ['https://ana:x@example.org/', {}, 'no user or password'],
    ['file:///x', {}, 'begins with https://'],
    ['https://example.org/', { time_zone: 'Mars/Base' }, 'a zone such as'],
    ['https://example.org/', { hosts: ['*'] }, 'a host such as'],
    ['https://example.org/', { user: 'a\nb' }, 'one line'],
  ] as const)('an operator enters %s with %o', ([url, change, fault]) => {
    const settings = plainSettings(1, { url, ...change })
    const parsed = createCalendarAdapter().settings.safeParse(settings)
    expect(parsed.error?.issues.map(({ message }) => message).join() ?? null).toEqual(
      fault === null ? null : expect.stringContaining(fault),
    )
  })

  test('whatever becomes of the answer, an event is created once and nobody is told wrong', async () => {
    await using box = await fresh(0)
    const { rig, path, calendar, gate } = box
    const deeds = [
      { kind: 'cut', when: 'before' },
      { kind: 'cut', when: 'after' },
      { kind: 'cut', when: 'within' },
      { kind: 'silence' },
      { kind: 'garbage', bytes: 'x\r\n\r\n' },
      { kind: 'answer', status: 500 },
      { kind: 'answer', status: 503, headers: { 'retry-after': '7' } },
      { kind: 'answer', status: 429 },
      { kind: 'answer', status: 403 },
    ] as const
    for (const deed of deeds) {
      const before = Object.keys(calendar.list()).length
      const write = rig.write('create', creation(path))
      const capture = await rig.capture(write)
      gate.decide = ({ method }) => (method === 'PUT' ? deed : null)
      const replied = gate.replies.length
      const outcome = await (deed.kind === 'silence'
        ? rig.quickly(() => rig.execute(write, capture))
        : rig.execute(write, capture))
      gate.decide = () => null
      // Nobody waits for the server any more, which may be about to keep it.
      if (deed.kind === 'silence' && outcome.kind === 'unknown')
        await until(() => gate.replies.slice(replied).some(({ method }) => method === 'PUT'))
      const arrived = Object.keys(calendar.list()).length - before
      const proof = await rig.prove(write, capture)
      expect(proof.kind, JSON.stringify(deed)).toBe(arrived === 1 ? 'executed' : 'not_executed')
      if (outcome.kind === 'executed') expect(arrived).toBe(1)
      if (outcome.kind === 'not_executed') expect(arrived).toBe(0)
      if (deed.kind === 'answer' && deed.status === 503)
        expect(outcome).toMatchObject({ retry: { after_ms: 7_000 } })
      if (deed.kind === 'answer' && deed.status === 403)
        expect(outcome).toMatchObject({ retry: 'never' })
      // A second attempt, as after a crash between the answer and the record of it.
      expect((await rig.execute(write, capture)).kind).toBe('executed')
      expect(Object.keys(calendar.list()).length - before).toBe(1)
      const taken = gate.replies.filter(
        ({ method, path: at, status }) =>
          method === 'PUT' && at === write.arguments['href'] && status < 300,
      )
      expect(taken).toHaveLength(1)
    }
  })
})
