import { readdirSync, readFileSync } from 'node:fs'

/** The processes of this machine whose command line holds the text, but for this one. */
export const survivors = (text: string): readonly number[] =>
  readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid) || pid === process.pid) return []
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? [pid] : []
    } catch {
      return []
    }
  })
