import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const memory = '/dev/shm'

/** Makes a folder that programs of other users may use, like the one that it lies in. */
export const makeOpenFolder = (place) => {
  const folder = mkdtempSync(path.join(place, 'gh-'))
  chmodSync(folder, 0o1777)
  return folder
}

/** Makes the folders of a run, one of them in memory, which go with all that killed processes left in them. */
export const setup = () => {
  const disk = makeOpenFolder(tmpdir())
  const quick = makeOpenFolder(existsSync(memory) ? memory : tmpdir())
  process.env.GATEHOUSE_TEST_DISK = disk
  process.env.TMPDIR = disk
  process.env.GATEHOUSE_TEST_MEMORY_OF_RUN = quick
  process.env.GATEHOUSE_TEST_MEMORY = quick
  return () => {
    for (const folder of [disk, quick]) rmSync(folder, { recursive: true, force: true })
  }
}
