import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished, TestRunner } from 'vitest'

/** Makes a folder for the test that runs, or else for its file, which is gone with all in it when that ends. */
export const makeTemporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-test-')))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  if (TestRunner.getCurrentTest()) onTestFinished(remove)
  else afterAll(remove)
  return folder
}
