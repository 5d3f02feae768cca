import { processorMs } from '@gatehouse/testkit/processor-time'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatIcs, parseIcs } from './ics.ts'
import { occurrencesIn } from './occurrences.ts'
import { readEvent } from './read-event.ts'

const wrapped = (lines: readonly string[], before: readonly string[] = []): string =>
  [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', ...before, 'BEGIN:VEVENT', 'UID:one'],
    ...[...lines, 'END:VEVENT', 'END:VCALENDAR', ''],
  ].join('\r\n')

const known = { ref: 'event-1', href: '/a/1.ics', version: '"1"' }
const read = (text: string, zone = 'Europe/Berlin') => readEvent(parseIcs(text), known, zone)

const year2026 = { from_ms: Date.UTC(2026, 0, 1), to_ms: Date.UTC(2027, 0, 1) }
const starts = (text: string, range = year2026, zone = 'Europe/Berlin') => {
  const event = read(text, zone)
  if (!event) throw new Error('no event')
  return occurrencesIn(event, range, zone, { left: 100_000 }, 1_000).occurrences.map(
    ({ start_ms }) => new Date(start_ms).toISOString().slice(0, 16),
  )
}

test('texts, people and times are read in plain words', () => {
  const event = read(
    wrapped([
      'DTSTART;TZID=Europe/Berlin:20260330T090000',
      'DTEND;TZID=Europe/Berlin:20260330T103000',
      'SUMMARY:Bud',
      ' get\\, and more',
      'DESCRIPTION:One\\nTwo\\;',
      'ORGANIZER;CN="Ana, of Berlin":mailto:ana@example.org',
      'ATTENDEE;CN=Ben;PARTSTAT=ACCEPTED:MAILTO:ben@example.net',
      'STATUS:TENTATIVE',
    ]),
  )
  expect(event).toMatchObject({
    uid: 'one',
    zone_name: 'Europe/Berlin',
    span: { all_day: false, zone: 'Europe/Berlin', length_ms: 5_400_000 },
    face: {
      title: 'Budget, and more',
      description: 'One\nTwo;',
      status: 'tentative',
      busy: true,
      organizer: { name: 'Ana, of Berlin', address: 'ana@example.org' },
      attendees: [{ name: 'Ben', address: 'ben@example.net', answer: 'accepted' }],
    },
    damaged: false,
  })
})

test('a series keeps its time by the clock when summer begins and ends', () => {
  const text = wrapped([
    'DTSTART;TZID=Europe/Berlin:20260322T090000',
    'DURATION:PT1H',
    'RRULE:FREQ=WEEKLY;COUNT=3',
  ])
  expect(starts(text)).toEqual(['2026-03-22T08:00', '2026-03-29T07:00', '2026-04-05T07:00'])
})

test('an hour that is skipped or comes twice is one occurrence each', () => {
  const text = wrapped([
    'DTSTART;TZID=Europe/Berlin:20260328T023000',
    'DURATION:PT30M',
    'RRULE:FREQ=DAILY;COUNT=3',
  ])
  expect(starts(text)).toEqual(['2026-03-28T01:30', '2026-03-29T01:30', '2026-03-30T00:30'])
  const autumn = wrapped(['DTSTART;TZID=Europe/Berlin:20261025T023000', 'DURATION:PT30M'])
  expect(starts(autumn)).toEqual(['2026-10-25T00:30'])
})

test('whole days are of the zone of the account, and one of them may have 23 hours', () => {
  const event = read(wrapped(['DTSTART;VALUE=DATE:20260329', 'DTEND;VALUE=DATE:20260330']))
  const [day] = occurrencesIn(
    event as never,
    year2026,
    'Europe/Berlin',
    { left: 10 },
    10,
  ).occurrences
  expect((day?.end_ms ?? 0) - (day?.start_ms ?? 0)).toBe(23 * 3_600_000)
  expect(new Date(day?.start_ms ?? 0).toISOString()).toBe('2026-03-28T23:00:00.000Z')
})

test('single occurrences are left out, added, moved and cancelled', () => {
  const text = [
    ...['BEGIN:VCALENDAR', 'BEGIN:VEVENT', 'UID:one', 'DTSTART:20260105T090000Z'],
    ...['DTEND:20260105T100000Z', 'RRULE:FREQ=WEEKLY;COUNT=4', 'EXDATE:20260112T090000Z'],
    ...['RDATE:20260120T090000Z', 'SUMMARY:Weekly', 'END:VEVENT'],
    ...['BEGIN:VEVENT', 'UID:one', 'RECURRENCE-ID;TZID=Europe/Berlin:20260119T100000'],
    ...['DTSTART:20260119T150000Z', 'DTEND:20260119T160000Z', 'SUMMARY:Later', 'END:VEVENT'],
    ...['BEGIN:VEVENT', 'UID:one', 'RECURRENCE-ID:20260126T090000Z', 'DTSTART:20260126T090000Z'],
    ...['STATUS:CANCELLED', 'END:VEVENT', 'END:VCALENDAR', ''],
  ].join('\r\n')
  expect(starts(text)).toEqual([
    '2026-01-05T09:00',
    '2026-01-19T15:00',
    '2026-01-20T09:00',
    '2026-01-26T09:00',
  ])
  const event = read(text)
  const faces = occurrencesIn(event as never, year2026, 'UTC', { left: 1_000 }, 100).occurrences
  expect(faces.map(({ face }) => `${face.title} ${face.busy}`)).toEqual([
    'Weekly true',
    'Later true',
    'Weekly true',
    ' false',
  ])
})

test('a zone that only the event knows is taken from it', () => {
  const zone = [
    ...['BEGIN:VTIMEZONE', 'TZID:Our own', 'BEGIN:STANDARD', 'DTSTART:16010101T030000'],
    ...['TZOFFSETFROM:+0300', 'TZOFFSETTO:+0200', 'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10'],
    ...['END:STANDARD', 'BEGIN:DAYLIGHT', 'DTSTART:16010101T020000', 'TZOFFSETFROM:+0200'],
    ...['TZOFFSETTO:+0300', 'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3', 'END:DAYLIGHT'],
    'END:VTIMEZONE',
  ]
  const at = (day: string) =>
    starts(wrapped([`DTSTART;TZID=Our own:${day}T120000`, 'DURATION:PT1H'], zone))
  expect(at('20260110')).toEqual(['2026-01-10T10:00'])
  expect(at('20260710')).toEqual(['2026-07-10T09:00'])
  const evil = zone.map((line) => line.replace('FREQ=YEARLY;BYDAY=-1SU', 'FREQ=SECONDLY'))
  const event = read(wrapped(['DTSTART;TZID=Our own:20260110T120000'], evil))
  expect(event).toMatchObject({ damaged: true, span: { zone: 'floating' } })
})

test.for([
  ['bad dates', ['DTSTART:20260231T090000Z'], null],
  ['no time', ['SUMMARY:x'], null],
  ['an end before the start', ['DTSTART:20260110T090000Z', 'DTEND:20260109T090000Z'], true],
  ['a rule that is none', ['DTSTART:20260110T090000Z', 'RRULE:FREQ=OFTEN'], true],
  ['an unknown zone', ['DTSTART;TZID=Nowhere/Town:20260110T090000'], true],
  ['an endless length', ['DTSTART:20260110T090000Z', 'DURATION:P999999D'], true],
  ['lines that are none', ['DTSTART:20260110T090000Z', '<html>'], true],
  ['what is too deep', ['DTSTART:20260110T090000Z', ...Array(50).fill('BEGIN:X')], true],
] as const)('an event with %s is survived', ([, lines, damaged]) => {
  const event = read(wrapped(lines))
  expect(event?.damaged ?? null).toBe(damaged)
})

test('text that hides or turns what stands there is shown without that', () => {
  const event = read(wrapped(['DTSTART:20260110T090000Z', 'SUMMARY:a\u202eb\u0000c\u200f\ufeff']))
  expect(event?.face.title).toBe('abc')
})

test('a huge object is cut, and costs little', () => {
  const before = processorMs()
  const lines = ['DTSTART:20260110T090000Z', `DESCRIPTION:${'x'.repeat(900_000)}`]
  const event = read(wrapped([...lines, ...Array(30_000).fill('ATTENDEE:mailto:a@example.net')]))
  expect(event?.face.description).toHaveLength(65_536)
  expect(event?.face.attendees.length).toBeLessThanOrEqual(200)
  expect(event?.truncated).toBe(true)
  expect(processorMs() - before).toBeLessThan(5_000)
})

test('whatever is parsed is written back byte for byte', () => {
  const line = fc.oneof(
    fc.string({ maxLength: 80 }),
    fc.constantFrom('BEGIN:A', 'END:A', 'X-A;B="c:d";E=f,g:h', ' folded', '\tfolded', '', 'A:b'),
  )
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 30 }),
      fc.constantFrom('\r\n', '\n', '\r'),
      (lines, end) => {
        const { root, sound } = parseIcs(lines.join(end))
        if (sound) expect(formatIcs(root)).toBe(lines.join(end))
      },
    ),
  )
})

test('nothing that is read makes expanding cost more than its budget', () => {
  const part = fc.constantFrom(
    'BYDAY=MO',
    'BYMONTH=2',
    'BYMONTHDAY=30',
    'BYHOUR=1,2,3',
    'BYSETPOS=-1',
    'COUNT=999999',
    'INTERVAL=99',
    'BYYEARDAY=366',
    'BYWEEKNO=53',
    'UNTIL=99991231T000000Z',
  )
  const freq = fc.constantFrom(
    'SECONDLY',
    'MINUTELY',
    'HOURLY',
    'DAILY',
    'WEEKLY',
    'MONTHLY',
    'YEARLY',
  )
  fc.assert(
    fc.property(
      freq,
      fc.uniqueArray(part, { maxLength: 4 }),
      fc.integer({ min: 1, max: 9_999 }),
      (f, parts, y) => {
        const rule = `RRULE:${[`FREQ=${f}`, ...parts].join(';')}`
        const event = read(wrapped([`DTSTART:${String(y).padStart(4, '0')}0105T090000Z`, rule]))
        if (!event) return
        const budget = { left: 20_000 }
        const { occurrences } = occurrencesIn(event, year2026, 'UTC', budget, 500)
        expect(occurrences.length).toBeLessThanOrEqual(500)
        expect(budget.left).toBeGreaterThan(-100_000)
      },
    ),
    { numRuns: 300 },
  )
})
