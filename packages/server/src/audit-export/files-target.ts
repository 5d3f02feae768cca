import { mkdir, open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import type { EntryTarget } from './target.ts'
import { nameOfPart, textOfPart } from './target.ts'

const write = async (folder: string, name: string, text: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const temporary = path.join(folder, `.${name}.new`)
  {
    await using file = await open(temporary, 'w', 0o600)
    await file.writeFile(text)
    await file.sync()
  }
  await rename(temporary, path.join(folder, name))
  await using names = await open(folder, 'r')
  await names.sync()
}

/** A folder, on another disk or a share: a file for each part. */
export const filesTarget = (folder: string): EntryTarget => ({
  takes: 'entries',
  deliver: (part) => write(folder, nameOfPart(part), textOfPart(part)),
  async probe() {
    await write(folder, 'gatehouse-test.txt', 'Gatehouse can write here.\n')
    await rm(path.join(folder, 'gatehouse-test.txt'))
  },
})
