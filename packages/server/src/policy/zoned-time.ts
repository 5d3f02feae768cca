const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/** A time zone by name, for conditions such as `now.getHours("Europe/Berlin") < 9`. */
export class TimeZone {
  readonly name: string
  readonly #format: Intl.DateTimeFormat

  /** Throws when there is no such zone. */
  constructor(name: string) {
    this.name = name
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      weekday: 'short',
    })
  }

  /** Date and time as clocks and calendars show them there, counted as CEL counts: months and days from 0. */
  read(at: Date): Readonly<Record<ZonedField, number>> {
    const parts = new Map(this.#format.formatToParts(at).map((part) => [part.type, part.value]))
    const number = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type))
    const [year, month, day] = [number('year'), number('month'), number('day')]
    return {
      getFullYear: year,
      getMonth: month - 1,
      getDate: day,
      getDayOfMonth: day - 1,
      getDayOfWeek: weekdays.indexOf(parts.get('weekday') ?? ''),
      getDayOfYear: (Date.UTC(year, month - 1, day) - Date.UTC(year, 0, 1)) / 86_400_000,
      getHours: number('hour'),
      getMinutes: number('minute'),
      getSeconds: number('second'),
    }
  }
}

export const zonedFields = [
  'getFullYear',
  'getMonth',
  'getDate',
  'getDayOfMonth',
  'getDayOfWeek',
  'getDayOfYear',
  'getHours',
  'getMinutes',
  'getSeconds',
] as const
export type ZonedField = (typeof zonedFields)[number]
