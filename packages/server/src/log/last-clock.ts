import type { LogReader } from './log-files.ts'

/** Service clock at the last group of a log, in milliseconds; 0 where there is none. */
export const lastClockOf = (files: LogReader): number => {
  let clockMs = 0
  for (const { note } of files.frames(Math.max(0, files.end - 1))) clockMs = note.clockMs
  return clockMs
}
