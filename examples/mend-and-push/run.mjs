import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openRemote } from './remote.mjs'
import { startService } from './service.mjs'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-example-'))
const remote = await openRemote(join(folder, 'remote'))
let service = null

/** Reads what would happen, and says yes. */
const person = (capability, text) => {
  console.log(
    `\n  a person is asked about ${capability}:\n    ${text.replaceAll('\n', '\n    ')}\n`,
  )
  return true
}

try {
  service = await startService(join(folder, 'data'), ['--outbound-private-targets', remote.target])
  const call = await service.agent('coder', person)

  const cloned = await call('git.clone', { url: remote.url, path: 'app' })
  assert.equal(cloned.head, remote.head())
  console.log(`cloned ${cloned.default_branch} at ${cloned.head}`)

  const test = { command: 'sh', working_directory: 'app' }
  const before = await call('process.run', { ...test, args: ['test.sh'] })
  assert.equal(before.exit_code, 1)
  console.log('the test fails')

  await call('filesystem.edit', { path: 'app/add.sh', pattern: '$1 - $2', replace: '$1 + $2' })
  const after = await call('process.run', { ...test, args: ['./test.sh'] })
  assert.equal(after.stdout, 'passed\n')
  console.log('mended: the test passes')

  const made = await call('git.commit', { path: 'app', message: 'Add, do not subtract' })
  assert.equal(made.files_committed, 1)
  const { ahead } = await call('git.status', { path: 'app' })
  assert.equal(ahead, 1)
  assert.notEqual(remote.head(), made.commit_hash)

  const pushed = await call('git.push', { path: 'app' })
  assert.deepEqual(pushed.pushed_refs, ['refs/heads/main'])
  assert.equal(remote.head(), made.commit_hash)
  console.log(`the remote has ${made.commit_hash}`)
} finally {
  await service?.stop()
  remote.close()
  rmSync(folder, { recursive: true, force: true })
}
