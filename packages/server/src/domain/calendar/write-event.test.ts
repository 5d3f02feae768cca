import fc from 'fast-check'
import ICAL from 'ical.js'
import { expect, test } from 'vitest'
import { parseIcs } from './ics.ts'
import { occurrencesIn } from './occurrences.ts'
import { readEvent } from './read-event.ts'
import {
  changedEvent,
  type EventFields,
  newEvent,
  ruleFault,
  sameObject,
  withOccurrence,
  withoutOccurrence,
} from './write-event.ts'
import { offsetAt } from './zones.ts'

const writing = {
  at_ms: Date.UTC(2026, 0, 2, 3, 4, 5),
  organizer: { name: 'Ana', address: 'ana@example.org' },
}
const fields: EventFields = {
  title: 'Budget; a, b\\c',
  location: 'Room 1',
  description: 'One\nTwo',
  times: {
    start: Date.UTC(2026, 2, 30, 9),
    end: Date.UTC(2026, 2, 30, 10),
    zone: 'Europe/Berlin',
    all_day: false,
  },
  attendees: ['ben@example.net'],
  rule: null,
}
const known = { ref: 'event-1', href: '/a/1.ics', version: '"1"' }
const read = (text: string) => {
  const event = readEvent(parseIcs(text), known, 'Europe/Berlin')
  if (!event) throw new Error('no event')
  return event
}
const edited = (result: ReturnType<typeof changedEvent>): string => {
  if (result.kind === 'refused') throw new Error(result.detail)
  return result.ics
}
const starts = (text: string) =>
  occurrencesIn(
    read(text),
    { from_ms: Date.UTC(2026, 0, 1), to_ms: Date.UTC(2027, 0, 1) },
    'Europe/Berlin',
    { left: 10_000 },
    100,
  ).occurrences.map(
    ({ start_ms, face }) => `${new Date(start_ms).toISOString().slice(0, 16)} ${face.title}`,
  )

test('a new event is read back as it was meant, and by another library too', () => {
  const text = newEvent('uid-1', fields, writing)
  const event = read(text)
  expect(event.damaged).toBe(false)
  expect(event.face).toMatchObject({
    title: fields.title,
    description: 'One\nTwo',
    organizer: { name: 'Ana', address: 'ana@example.org' },
    attendees: [{ address: 'ben@example.net', answer: 'needs-action' }],
  })
  const calendar = new ICAL.Component(ICAL.parse(text))
  const theirs = new ICAL.Event(calendar.getFirstSubcomponent('vevent') ?? undefined)
  expect(theirs.summary).toBe(fields.title)
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
})

test('the zone that goes along gives the offsets of the zone', () => {
  for (const zone of [
    'Europe/Berlin',
    'America/New_York',
    'Asia/Tokyo',
    'Australia/Sydney',
    'Africa/Casablanca',
    'Asia/Kathmandu',
  ])
    for (const month of [0, 3, 6, 9]) {
      const start = Date.UTC(2027, month, 14, 12)
      const text = newEvent(
        'u',
        { ...fields, times: { start, end: start + 1, zone, all_day: false } },
        writing,
      )
      const calendar = new ICAL.Component(ICAL.parse(text))
      const own = new ICAL.Timezone(calendar.getFirstSubcomponent('vtimezone') as never)
      const time = ICAL.Time.fromData({ year: 2027, month: month + 1, day: 14, hour: 12 })
      expect(own.utcOffset(time) * 1000, `${zone} ${month}`).toBe(
        offsetAt(zone, start - offsetAt(zone, start)),
      )
    }
})

const foreign = [
  'BEGIN:VCALENDAR',
  'PRODID:-//Other//EN',
  'X-WR-CALNAME:Theirs',
  'BEGIN:VEVENT',
  'X-BEFORE;X-A="b;c":kept',
  'UID:theirs',
  'SEQUENCE:4',
  'DTSTART;TZID=Europe/Berlin:20260330T090000',
  'DURATION:PT1H',
  'SUMMARY:Old title which is',
  '  folded in a way of its own',
  'ATTENDEE;PARTSTAT=ACCEPTED;CN=Ben:mailto:Ben@example.net',
  'X-AFTER:kept\\, too',
  'BEGIN:VALARM',
  'TRIGGER:-PT15M',
  'ACTION:DISPLAY',
  'END:VALARM',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\n')

test('changing a field leaves every other line byte for byte as it was', () => {
  const text = edited(changedEvent(foreign, { title: 'New' }, writing))
  const touched = /^(DTSTAMP|LAST-MODIFIED|SEQUENCE|SUMMARY| {2}folded)/
  const left = (all: string) => all.split(/\r?\n/).filter((line) => !touched.test(line))
  expect(left(text)).toEqual(left(foreign))
  expect(text).toContain('SUMMARY:New')
  expect(text).toContain('SEQUENCE:5')
  expect(read(text).span).toEqual(read(foreign).span)
})

test('who is invited already keeps the answer, who is not named any more is gone', () => {
  const text = edited(
    changedEvent(foreign, { attendees: ['ben@example.net', 'cleo@example.net'] }, writing),
  )
  expect(read(text).face.attendees.map(({ address, answer }) => `${address} ${answer}`)).toEqual([
    'Ben@example.net accepted',
    'cleo@example.net needs-action',
  ])
  expect(read(edited(changedEvent(text, { attendees: [] }, writing))).face.attendees).toEqual([])
})

test('a series can be moved as long as no single occurrence is other than the rest', () => {
  const rule = 'FREQ=WEEKLY;UNTIL=20260420'
  const series = newEvent('s', { ...fields, title: 'Weekly', rule }, writing)
  expect(series).toContain('UNTIL=20260420T215959Z')
  expect(starts(series)).toEqual([
    '2026-03-30T07:00 Weekly',
    '2026-04-06T07:00 Weekly',
    '2026-04-13T07:00 Weekly',
    '2026-04-20T07:00 Weekly',
  ])
  const second = Date.UTC(2026, 3, 6, 7)
  const without = edited(withoutOccurrence(series, second, writing))
  expect(starts(without)).toHaveLength(3)
  const times = { ...fields.times, start: Date.UTC(2026, 3, 7, 15), end: Date.UTC(2026, 3, 7, 16) }
  const other = edited(withOccurrence(series, second, { times, title: 'Once' }, writing))
  expect(starts(other)[1]).toBe('2026-04-07T13:00 Once')
  const again = edited(withOccurrence(other, second, { times, title: 'Twice' }, writing))
  expect(starts(again)).toHaveLength(4)
  expect(starts(again)[1]).toBe('2026-04-07T13:00 Twice')
  expect(starts(edited(withoutOccurrence(again, second, writing)))).toHaveLength(3)
  const moved = { times: { ...fields.times, start: fields.times.start + 3_600_000 } }
  expect(changedEvent(without, moved, writing).kind).toBe('refused')
  expect(changedEvent(series, moved, writing).kind).toBe('edited')
  expect(read(edited(changedEvent(series, { rule: null }, writing))).rules).toEqual([])
})

test('what is not sound is not changed', () => {
  expect(changedEvent(foreign.replace('END:VALARM\n', ''), { title: 'x' }, writing).kind).toBe(
    'refused',
  )
  expect(changedEvent('nothing', { title: 'x' }, writing).kind).toBe('refused')
})

test('no text can become a line of its own', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300, unit: 'binary' }), (text) => {
      const ics = newEvent(
        'u',
        { ...fields, title: text, location: text, description: text },
        writing,
      )
      const names = ics.split('\r\n').filter((line) => !line.startsWith(' '))
      expect(names.filter((line) => /^(ATTENDEE|BEGIN:VEVENT)/.test(line))).toHaveLength(2)
      expect(parseIcs(ics).sound).toBe(true)
    }),
  )
})

test('the same in another order and with other folds is the same', () => {
  const reordered = foreign
    .replace('SEQUENCE:4\n', '')
    .replace('X-AFTER', 'SEQUENCE:4\nX-AFTER')
    .replaceAll('\n', '\r\n')
  expect(sameObject(foreign, reordered.replace('folded in\r\n  a', 'folded in a'))).toBe(true)
  expect(sameObject(foreign, foreign.replace('kept', 'lost'))).toBe(false)
})

test('rules that nobody should write are refused with a reason', () => {
  expect(ruleFault('FREQ=WEEKLY;BYDAY=MO')).toBeNull()
  for (const rule of [
    'FREQ=SECONDLY',
    'weekly',
    'FREQ=DAILY;COUNT=1;UNTIL=20270101',
    'FREQ=DAILY\r\nX:1',
  ])
    expect(ruleFault(rule)).not.toBeNull()
})
