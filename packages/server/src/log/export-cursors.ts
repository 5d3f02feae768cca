import { timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { LogState } from '../domain/audit/chain.ts'
import { readIfThere, writeNew } from './files.ts'
import type { Sealer } from './keys.ts'

export const cursorsFolder = 'targets'

const tag = 'gatehouse-cursor-v1\n'

type Cursors = {
  read(name: string): LogState | null
  write(name: string, state: LogState): void
}

/** How far each target has come, by a file each. */
export const createCursors = (directory: string, chain: string, sealer: Sealer): Cursors => {
  const folder = path.join(directory, cursorsFolder)
  const fileOf = (name: string): string => path.join(folder, `${name}.json`)
  const macOf = (name: string, text: string): Buffer =>
    sealer.mac(`${tag}${chain}\n${name}\n${text}`)
  return {
    read(name) {
      const [text = '', mac = ''] = readIfThere(fileOf(name))?.toString('utf8').split('\n') ?? []
      const [given, expected] = [Buffer.from(mac, 'base64'), macOf(name, text)]
      // @SECURITY retention removes what a target has: a cursor that somebody moved on counts as none; export-part.test.ts.
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
      return JSON.parse(text) as LogState
    },
    write(name, { size, head, peaks }) {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
      const text = JSON.stringify({ size, head, peaks })
      writeNew(fileOf(name), `${text}\n${macOf(name, text).toString('base64')}\n`, 0o600)
    },
  }
}
