import { parseStored } from '../../../domain/parse-stored.ts'

/** State of a calendar after it was read. */
export type CalendarState = {
  readonly ctag: string
  /** Where the server counts changes itself; null otherwise. */
  readonly sync_token: string | null
  /** By path the version that the replica has, where it does not. */
  readonly versions: Readonly<Record<string, string>> | null
}

export type CalendarCursor = ReadonlyMap<string, CalendarState>

const form = 1

type Written = {
  readonly form: number
  readonly zone: string
  readonly calendars: readonly (readonly [string, CalendarState])[]
}

export const formatCursor = (cursor: CalendarCursor, zone: string): string =>
  JSON.stringify({ form, zone, calendars: [...cursor] } satisfies Written)

/** Null for one of another version of the program, or of another zone: then everything is read anew. */
export const parseCursor = (text: string, zone: string): CalendarCursor | null => {
  const written = parseStored<Written>(text, 'services.cursor')
  return written.form === form && written.zone === zone ? new Map(written.calendars) : null
}
