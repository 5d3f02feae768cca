import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

// The example typescript-client installs the package and runs an agent with it; this is what it is made of.

const root = new URL('..', import.meta.url).pathname
const folder = join(root, 'packages/client')

type Packed = { size: number; files: { path: string }[] }

test('the client that is published is small, and stands alone', () => {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: folder })
  const [packed] = JSON.parse(output.toString()) as [Packed]
  expect(packed.size).toBeLessThan(60_000)
  const paths = packed.files.map(({ path }) => path)
  expect(paths).toContain('dist/index.d.ts')
  expect(paths).toContain('README.md')
  expect(paths).toContain('LICENSE')
  expect(paths.filter((path) => /\.test\.|\.map$|tsbuildinfo/.test(path))).toEqual([])
  const { dependencies } = JSON.parse(
    execFileSync('npm', ['pkg', 'get', '--json'], { cwd: folder }).toString(),
  ) as { dependencies?: object }
  expect(dependencies).toBeUndefined()
})

test('its types need nothing but those of a browser', () => {
  const project = mkdtempSync(join(tmpdir(), 'gatehouse-page-'))
  writeFileSync(
    join(project, 'page.ts'),
    `import { errors, Gatehouse } from '${join(folder, 'dist/index.js')}'
const gate = new Gatehouse({ url: location.origin, token: 'x', transport: 'websocket' })
export const read = async (path: string): Promise<string | null> => {
  try {
    return (await gate.call('filesystem.read', { path })).content
  } catch (error) {
    if (error instanceof errors.FileNotFound) return null
    throw error
  }
}
`,
  )
  const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--types', '']
  const target = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2023']
  const lib = ['--lib', 'es2023,esnext.disposable,dom,dom.asynciterable']
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  try {
    execFileSync(process.execPath, [tsc, ...options, ...target, ...lib, 'page.ts'], {
      cwd: project,
    })
  } catch (error) {
    expect.unreachable(String((error as { stdout: Buffer }).stdout))
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
})
