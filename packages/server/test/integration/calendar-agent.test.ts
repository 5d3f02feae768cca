import { Radicale } from '@gatehouse/testkit/caldav-server/radicale'
import { hasProgram } from '@gatehouse/testkit/programs'
import { until } from '@gatehouse/testkit/until'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CalendarKit } from '../calendar/agent-kit.ts'
import { icsText, sampleEvent } from '../calendar/kit.ts'

const weekly = icsText('weekly@x', 'Weekly', [
  'DTSTART;TZID=Europe/Berlin:20260323T090000',
  'DTEND;TZID=Europe/Berlin:20260323T100000',
  'RRULE:FREQ=WEEKLY;COUNT=4',
  'X-KEPT;X-A=b:as it is',
])
const events = {
  'meeting.ics': sampleEvent('meeting@x', 'Budget meeting'),
  'weekly.ics': weekly,
  'holiday.ics': icsText('holiday@x', 'Holiday', [
    'DTSTART;VALUE=DATE:20260501',
    'DTEND;VALUE=DATE:20260502',
  ]),
}

describe.skipIf(!hasProgram('radicale'))('an agent with calendars', () => {
  let server: Radicale
  beforeAll(async () => {
    server = await Radicale.start()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  test('finds events and free times in the copy, while the server is away', async () => {
    await using box = await CalendarKit.open(server, events)
    await box.gate.down()
    expect(await box.call('calendars')).toMatchObject({
      calendars: [{ calendar: box.id, name: 'Work', writable: true, events: 3 }],
      time_zone: 'Europe/Berlin',
      service: { name: 'calendar', status: 'connected' },
    })
    const found = await box.call('search', { from: '2026-03-30', to: '2026-04-01' })
    expect(found).toMatchObject({
      total: 2,
      truncated: false,
      events: expect.arrayContaining([
        expect.objectContaining({
          title: 'Weekly',
          start: '2026-03-30T07:00:00.000Z',
          occurrence: '2026-03-30T07:00:00.000Z',
          local_start: '2026-03-30T09:00',
          time_zone: 'Europe/Berlin',
          recurring: true,
        }),
        expect.objectContaining({
          title: 'Budget meeting',
          occurrence: null,
          location: 'Room 1',
          attendees: 1,
        }),
      ]),
    })
    expect((await box.events({ query: 'weekly' })).map(({ start }) => start)).toEqual([
      '2026-03-23T08:00:00.000Z',
      '2026-03-30T07:00:00.000Z',
      '2026-04-06T07:00:00.000Z',
      '2026-04-13T07:00:00.000Z',
    ])
    const day = { from: '2026-03-30T08:00', to: '2026-03-30T12:00' }
    expect(await box.call('free_busy', day)).toMatchObject({
      busy: [{ local_start: '2026-03-30T09:00', local_end: '2026-03-30T10:00', tentative: false }],
      free: [{ minutes: 60 }, { minutes: 120 }],
      truncated: false,
    })
    const may = { from: '2026-04-30T12:00', to: '2026-05-02T12:00' }
    expect(await box.call('free_busy', may)).toMatchObject({
      busy: [{ start: '2026-04-30T22:00:00.000Z', end: '2026-05-01T22:00:00.000Z' }],
    })
    const { event_id } = await box.event('budget')
    expect(await box.call('read', { event_id })).toMatchObject({
      event: { when: 'Monday, 30 March 2026, 09:00 to 10:00 (Europe/Berlin)', damaged: false },
      description: 'Bring coffee.\nAnd cake; or, milk.',
      people: [{ address: 'ben@example.net', answer: 'needs-action' }],
    })
    expect(await box.failure('search', {}, 'beta')).toContain('ServiceNotFound')
    expect(await box.failure('read', { event_id: 'event-none' })).toContain('EventNotFound')
  })

  test('an event that is cancelled in time is never created, another is created once', async () => {
    await using box = await CalendarKit.open(server)
    const meeting = {
      start: '2026-03-30T09:00',
      time_zone: 'Europe/Berlin',
      attendees: ['ben@example.net'],
      recurrence: 'FREQ=WEEKLY;COUNT=2',
    }
    const first = await box.call('create', { ...meeting, title: 'First' })
    const second = await box.call('create', { ...meeting, title: 'Second' })
    expect(second['when']).toBe('Monday, 30 March 2026, 09:00 to 10:00 (Europe/Berlin)')
    await box.kit.app.cancelWrite(box.kit.operator(), { write_id: String(first['write_id']) })
    const done = await box.finalized(second['write_id'], 'executed')
    expect(Object.values(box.calendar.list())).toEqual([expect.stringContaining('SUMMARY:Second')])
    await until(async () => (await box.events()).length === 2)
    expect((await box.event('second')).event_id).toBe(second['event_id'])
    expect((await box.write(first['write_id'])).status).toBe('cancelled')
    await box.undo(done)
    expect(box.calendar.list()).toEqual({})
    await until(async () => (await box.events()).length === 0)
  })

  test('a change keeps what it does not name, and is undone exactly', async () => {
    await using box = await CalendarKit.open(server, events)
    const before = box.calendar.list()
    const { event_id, version } = await box.event('weekly')
    const change = { event_id, title: 'Every week', location: 'Room 2', if_version: version }
    const done = await box.call('update', change)
    expect(done['changed']).toEqual(['title', 'location'])
    const write = await box.finalized(done['write_id'], 'executed')
    const [text] = Object.values(box.calendar.list()).filter((ics) => ics.includes('Every week'))
    for (const kept of ['X-KEPT;X-A=b:as it is', 'RRULE:FREQ=WEEKLY;COUNT=4', 'LOCATION:Room 2'])
      expect(text).toContain(kept)
    await until(async () => (await box.events({ query: 'every week' })).length === 4)
    expect(await box.failure('update', change)).toContain('EventChanged')
    await box.undo(write)
    expect(box.calendar.list()).toEqual(before)
  })

  test('one occurrence is changed or left out, and comes back', async () => {
    await using box = await CalendarKit.open(server, events)
    const before = box.calendar.list()
    const { event_id } = await box.event('weekly')
    const occurrence = '2026-04-06T07:00:00.000Z'
    const moved = await box.call('update', { event_id, occurrence, start: '2026-04-07T15:00' })
    const first = await box.finalized(moved['write_id'], 'executed')
    await until(
      async () => (await box.events({ query: 'weekly' }))[2]?.start === '2026-04-07T13:00:00.000Z',
    )
    const gone = await box.call('delete', { event_id, occurrence })
    const second = await box.finalized(gone['write_id'], 'executed')
    await until(async () => (await box.events({ query: 'weekly' })).length === 3)
    await box.undo(second)
    await box.undo(first)
    expect(box.calendar.list()).toEqual(before)
    expect(await box.failure('delete', { event_id, occurrence: '2026-04-05' })).toContain(
      'there is no occurrence',
    )
  })

  test('deleting is undone exactly, unless another is in its place', async () => {
    await using box = await CalendarKit.open(server, events)
    const before = box.calendar.list()
    const { event_id } = await box.event('budget')
    const done = await box.call('delete', { event_id })
    const write = await box.finalized(done['write_id'], 'executed')
    expect(Object.keys(box.calendar.list())).toHaveLength(2)
    await box.undo(write)
    expect(box.calendar.list()).toEqual(before)
    const again = await box.call('delete', { event_id: (await box.event('holiday')).event_id })
    const second = await box.finalized(again['write_id'], 'executed')
    await server.store(box.id, 'holiday.ics', icsText('holiday@x', 'Somebody else'))
    await expect(box.undo(second)).rejects.toMatchObject({ type: 'RollbackRefused' })
    expect(box.calendar.list()['holiday.ics']).toContain('Somebody else')
  })

  test('a version that is stale is refused, with the one that holds now', async () => {
    await using box = await CalendarKit.open(server, events)
    const { event_id, version } = await box.event('budget')
    expect(await box.failure('update', { event_id, title: 'x', if_version: '"other"' })).toContain(
      `its version is ${version} now, not "other"`,
    )
    // Change by somebody else, quicker than the delay.
    const done = await box.call('update', { event_id, title: 'Mine', if_version: version })
    await server.store(box.id, 'meeting.ics', sampleEvent('meeting@x', 'Theirs'))
    const write = await box.finalized(done['write_id'], 'failed')
    expect(write.error).toMatchObject({
      type: 'WriteRefused',
      message: expect.stringMatching(/has changed since: its version is "[^"]+" now, and was/),
    })
    expect(box.calendar.list()['meeting.ics']).toContain('Theirs')
  })

  test('reads go on while the server is away, it is said why, and it comes back by itself', async () => {
    await using box = await CalendarKit.open(server, events)
    const { event_id } = await box.event('budget')
    const deeds = [
      [{ kind: 'answer', status: 503, headers: { 'retry-after': '1' } }, 'is busy'],
      [{ kind: 'answer', status: 429 }, 'less often'],
      [{ kind: 'cut', when: 'within' }, 'cut the connection'],
      [{ kind: 'garbage', bytes: 'SSH-2.0-x\r\n\r\n' }, 'not with sound HTTP'],
      [{ kind: 'answer', status: 207, body: '<html>' }, 'XML that is not sound'],
      [{ kind: 'answer', status: 401 }, 'refused the login of ana'],
      [{ kind: 'silence' }, 'no answer came in time'],
    ] as const
    for (const [deed, reason] of deeds) {
      box.gate.decide = () => deed
      const heard = async () => {
        await box.kit.app.syncService(box.kit.operator(), { name: 'calendar', full: false })
        await until(async () => (await box.service()).reason?.includes(reason) ?? false)
      }
      await (deed.kind === 'silence' ? box.quickly(heard) : heard())
      expect((await box.service()).status).toBe('degraded')
      expect((await box.events({ query: 'budget' })).length).toBe(1)
    }
    const done = await box.call('delete', { event_id })
    await server.store(box.id, 'new.ics', icsText('new@x', 'Meanwhile'))
    box.gate.decide = () => null
    // Past whatever it waits for before it tries again.
    box.kit.clock.move(900_000)
    await until(async () => (await box.service()).status === 'connected')
    await box.finalized(done['write_id'], 'executed')
    await until(async () => (await box.events({ query: 'meanwhile' })).length === 1)
  })

  test('whoever approves sees who is invited and when, and what a change changes', async () => {
    await using box = await CalendarKit.open(server, events, 'version: 1\nrules: []\n')
    const asked = await box.kit.pending('alpha', 'calendar.create', {
      title: 'Lunch',
      start: '2026-03-29T12:00',
      attendees: ['ben@example.net', 'cleo@example.net'],
      recurrence: 'FREQ=WEEKLY;BYDAY=SU,MO;COUNT=3',
    })
    const shown = await box.kit.app.showApproval(box.kit.operator(), { approval_id: asked })
    expect(shown.preview).toEqual({
      kind: 'command',
      text: [
        'Create in the calendar "Work" (calendar):',
        'Title: Lunch',
        'When: Sunday, 29 March 2026, 12:00 to 13:00 (Europe/Berlin)',
        'Repeats: every week on Sunday, Monday, 3 times',
        'Invited: ben@example.net, cleo@example.net',
      ].join('\n'),
    })
    const { event_id } = await box.event('budget')
    const changing = await box.kit.pending('alpha', 'calendar.update', {
      event_id,
      start: '2026-03-31T09:30',
      attendees: [],
    })
    const changed = await box.kit.app.showApproval(box.kit.operator(), { approval_id: changing })
    expect(changed.preview).toEqual({
      kind: 'diff',
      text: [
        'Change the event "Budget meeting" in the calendar "Work" (Monday, 30 March 2026, 09:00 to 10:00 (Europe/Berlin)):',
        '- When: Monday, 30 March 2026, 09:00 to 10:00 (Europe/Berlin)',
        '+ When: Tuesday, 31 March 2026, 09:30 to 10:30 (Europe/Berlin)',
        '- Invited: ben@example.net',
      ].join('\n'),
    })
    // Change by somebody else, before the person decides.
    await server.store(box.id, 'meeting.ics', sampleEvent('meeting@x', 'Theirs'))
    await box.sync()
    await expect(
      box.kit.decide(changing, 'approve', { digest: changed.digest }),
    ).rejects.toMatchObject({ type: 'ApprovalStale' })
  })

  test('a rule on attendees lets some be invited without asking', async () => {
    const policy = `version: 1
rules:
  - match: calendar.create
    when: args.attendees.all(a, a.endsWith("@example.org"))
    tier: autonomous
`
    await using box = await CalendarKit.open(server, {}, policy)
    const meeting = { title: 'Meeting', start: '2026-03-30T09:00' }
    const invite = (attendees: readonly string[]) =>
      box.failure('create', { ...meeting, attendees })
    expect(await invite(['cleo@example.org'])).toBe('succeeded')
    expect(await invite([])).toBe('succeeded')
    expect(await invite(['cleo@example.org', 'eve@example.net'])).not.toBe('succeeded')
  })
})

describe.skipIf(!hasProgram('radicale'))('an event that cannot be', () => {
  let server: Radicale
  let box: CalendarKit
  beforeAll(async () => {
    server = await Radicale.start()
    box = await CalendarKit.open(server)
  })
  afterAll(async () => {
    await box[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  test.for([
    ['a time that does not exist', { start: '2026-03-29T02:30' }, 'clocks go forward'],
    ['no time', { start: 'tomorrow' }, 'is no time such as'],
    ['a day that does not exist', { start: '2026-02-30' }, 'is no time such as'],
    ['an end before its start', { end: '2026-03-30T08:00' }, 'end must be after start'],
    ['a date and a time', { end: '2026-03-31' }, 'both be dates'],
    ['a rule that is none', { recurrence: 'FREQ=OFTEN' }, 'recurrence:'],
    ['a rule by the second', { recurrence: 'FREQ=SECONDLY' }, 'daily at most'],
    ['a rule that is over', { recurrence: 'FREQ=DAILY;UNTIL=20250101' }, 'ends before'],
    ['a line end in the title', { title: 'a\nb' }, 'control character'],
    ['an address that is none', { attendees: ['Ben <ben@example.net>'] }, 'InvalidRecipient'],
    ['a zone that is none', { time_zone: 'Mars/Base' }, 'InvalidArguments'],
    ['a calendar that is none', { calendar: 'nowhere' }, 'CalendarNotFound'],
  ] as const)('an event with %s is refused', async ([, change, reason]) => {
    const meeting = { title: 'Meeting', start: '2026-03-30T09:00' }
    expect(await box.failure('create', { ...meeting, ...change })).toContain(reason)
  })
})
