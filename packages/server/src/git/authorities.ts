import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'

/** A file with the authorities that this program trusts and those of the operator, for git to read. */
export const authoritiesFile = (folder: string, caFile: string | null): (() => string) => {
  let made: string | null = null
  return () => {
    if (made !== null) return made
    const own = caFile === null ? [] : [readFileSync(caFile, 'utf8')]
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    made = join(folder, 'authorities.pem')
    writeFileSync(made, [...rootCertificates, ...own, ''].join('\n'), { mode: 0o644 })
    return made
  }
}
