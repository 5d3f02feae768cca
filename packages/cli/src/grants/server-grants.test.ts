import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import type { Definition } from '../imports/definition.ts'
import { foldersOf, hostsOf, isTooWide } from './server-grants.ts'

const stdio = (command: string, args: string[] = [], values = {}): Definition => ({
  server: { kind: 'stdio', command, args },
  values,
})

test('names the folders that a server needs to see', () => {
  const root = makeTemporaryFolder()
  const put = (path: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), '')
    return join(root, path)
  }
  put('server/package.json')
  const script = put('server/dist/index.js')
  const installed = put('lib/node_modules/@scope/a/dist/index.js')
  const config = put('etc/config.yaml')
  mkdirSync(join(root, 'docs', 'inner'), { recursive: true })
  expect(foldersOf(stdio('node', [script]))).toEqual([join(root, 'server')])
  expect(foldersOf(stdio('node', [installed]))).toEqual([join(root, 'lib/node_modules')])
  expect(foldersOf(stdio('node', [`--config=${config}`]))).toEqual([join(root, 'etc')])
  const docs = [join(root, 'docs', 'inner'), join(root, 'docs')]
  expect(foldersOf(stdio('npx', ['-y', 'files', ...docs]))).toEqual([join(root, 'docs')])
  const values = { FILE: join(root, 'docs', 'new.json'), API_TOKEN: root, PATH: root }
  expect(foldersOf(stdio('npx', [], values))).toEqual([join(root, 'docs')])
  expect(foldersOf(stdio('npx', ['/does/not/exist', '/usr/bin']))).toEqual([])
})

test.each([
  ['npx', ['-y', 'x'], ['registry.npmjs.org:443']],
  ['/opt/node/bin/npx', [], ['registry.npmjs.org:443']],
  ['pnpm', ['dlx', 'x'], ['registry.npmjs.org:443']],
  ['uvx', ['x'], ['pypi.org:443', 'files.pythonhosted.org:443']],
  ['uv', ['run', 'x'], ['pypi.org:443', 'files.pythonhosted.org:443']],
  ['npm', ['start'], []],
  ['node', ['x.js'], []],
])('%s %j needs %j', (command, args, hosts) => expect(hostsOf(stdio(command, args))).toEqual(hosts))

test.each([
  ['/', true],
  ['/home', true],
  ['/home/ana', true],
  ['/home/ana/.local/share', true],
  ['/home/ana/.local/share/gatehouse/connections', true],
  ['/home/ana/docs', false],
  ['/home/ana2', false],
])('offers %s: too wide is %s', (folder, wide) =>
  expect(isTooWide(folder, '/home/ana', '/home/ana/.local/share/gatehouse')).toBe(wide),
)

test('knows a home that is reached by a link', () => {
  const root = makeTemporaryFolder()
  mkdirSync(join(root, 'ana'))
  symlinkSync(join(root, 'ana'), join(root, 'home'))
  expect(isTooWide(join(root, 'ana'), join(root, 'home'), '/data')).toBe(true)
})
