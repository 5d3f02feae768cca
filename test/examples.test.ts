import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { hasProgram } from '@gatehouse/testkit/programs'
import { expect, test } from 'vitest'

const folder = new URL('../examples/', import.meta.url)

/** Runs it as its page says; it checks itself. */
const runExample = (name: string): Promise<{ code: number | null; said: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [new URL(`${name}/run.mjs`, folder).pathname], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        said += chunk
      })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, said }))
  })

/** Each example, and whether this machine has what it needs. */
const examples: Readonly<Record<string, boolean>> = {
  'mend-and-push': hasProgram('git') && hasProgram('bwrap'),
  'python-client': spawnSync('python3', ['--version']).status === 0,
  'typescript-client': true,
}

test('knows what each example needs', () => {
  // Policies are run by docs.test.ts, with the page that shows them.
  const found = readdirSync(folder).filter((name) => name !== 'policies')
  expect(Object.keys(examples).toSorted()).toEqual(found.toSorted())
})

for (const [name, runs] of Object.entries(examples))
  test.skipIf(!runs)(`the example ${name} does what it says`, async () => {
    const { code, said } = await runExample(name)
    expect(code, said).toBe(0)
  })
