import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CliKit } from './kit.ts'

/** Changes an entry of the audit log on its disk, as somebody would who has something to hide. */
export const forgeEntry = async (cli: CliKit): Promise<void> => {
  const { kit } = await cli.open()
  const folder = join(kit.folder, 'audit', 'segments')
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    const bytes = readFileSync(file)
    bytes.write('other.txt', bytes.indexOf('"notes.txt"') + 1)
    writeFileSync(file, bytes)
  }
}
