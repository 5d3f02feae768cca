import { expect, test } from 'vitest'
import {
  assertBranchName,
  assertIdentity,
  assertRef,
  assertRemoteName,
  repoFile,
} from './arguments.ts'
import { parseRemoteUrl } from './url.ts'

test.each([
  'main',
  'HEAD',
  'HEAD~3',
  'v1.2^{commit}',
  'main@{1}',
  '0123abc',
  'feature/ü',
  'origin/main',
])('%s names a commit', (ref) => expect(assertRef(ref)).toBe(ref))

test.each([
  '',
  '-x',
  '--output=MARK',
  '--upload-pack=x',
  'a..b',
  'a...b',
  'HEAD:file',
  ':/text',
  'a b',
  'a\nb',
  'a\0b',
  '*',
  'x'.repeat(251),
  'a\u202eb',
  '\ud800',
])('%j names none', (ref) => expect(() => assertRef(ref)).toThrow(/not a usable commit/))

test.each(['main', 'fix/title', 'a-b.c', 'ü'])('%s can be a branch', (name) =>
  expect(assertBranchName(name)).toBe(name),
)

test.each([
  'HEAD',
  '@',
  'a~1',
  'a^',
  'a@{1}',
  '.a',
  'a/.b',
  'a.lock',
  'a/',
  '/a',
  'a//b',
  'a.',
  '-a',
])('%s cannot', (name) => expect(() => assertBranchName(name)).toThrow(/not a usable commit/))

test('a remote is a plain name', () => {
  expect(assertRemoteName('origin')).toBe('origin')
  for (const name of ['-x', '', 'a b', '../x', '.git', 'ext::sh'])
    expect(() => assertRemoteName(name)).toThrow(/plain name/)
})

test('a file is told from the root of the repository, and nothing beside it', () => {
  expect(repoFile('/w/p', 'a/b')).toBe('a/b')
  expect(repoFile('/w/p', './a//b/')).toBe('a/b')
  expect(repoFile('/w/p', '/w/p/a')).toBe('a')
  expect(repoFile('/w/p', '.')).toBe('.')
  expect(repoFile('/w/p', ':(top)x')).toBe(':(top)x')
  expect(repoFile('/w/p', '-rf')).toBe('-rf')
  for (const file of ['../x', 'a/../../x', '/w/p-evil/x', '/elsewhere', '/w'])
    expect(() => repoFile('/w/p', file)).toThrow(/outside/)
  for (const file of ['.git/config', 'a/.GIT/hooks/x'])
    expect(() => repoFile('/w/p', file)).toThrow(/protected/)
  for (const file of ['a\0b', '\ud800', 'x'.repeat(4097)])
    expect(() => repoFile('/w/p', file)).toThrow(/not usable/)
})

test('an author is one line without brackets', () => {
  expect(assertIdentity('author_name', 'Ana Ü.')).toBe('Ana Ü.')
  for (const name of ['', ' ', 'a\nb', 'a <b>', 'x'.repeat(201)])
    expect(() => assertIdentity('author_name', name)).toThrow(/author_name/)
})

test.each([
  ['https://git.example/team/app.git', 'git.example', 'git.example:443'],
  ['https://GIT.example:8443/app', 'git.example', 'git.example:8443'],
  ['HTTPS://[2001:db8::1]/app', '[2001:db8::1]', '[2001:db8::1]:443'],
])('%s is an address', (url, host, target) => {
  expect(parseRemoteUrl(url)).toMatchObject({ host, target })
})

test.each([
  'ext::sh -c x',
  'ext::sh',
  'file:///etc',
  '/etc',
  './x',
  'git://git.example/x',
  'http://git.example/x',
  'ssh://git.example/x',
  'ssh://-oProxyCommand=x/y',
  'git@git.example:x',
  'https://u:p@git.example/x',
  'https://u@git.example/x',
  'https://-x/y',
  'https:///x',
  'https://git.example',
  'https://git.example/x?y',
  'https://git.example/x#y',
  'https://git.example\\x',
  'https://git.example/x y',
  'https://git.example/x\ny',
  '--upload-pack=x',
  'https::https://git.example/x',
])('%s is refused', (url) => {
  expect(() => parseRemoteUrl(url)).toThrow(/This address is not allowed/)
})

test('http is for the operator’s own servers, by address and port', () => {
  const own = new Set(['10.0.0.5:8080', '10.0.0.5:80'])
  expect(parseRemoteUrl('http://10.0.0.5:8080/app', own)).toMatchObject({
    target: '10.0.0.5:8080',
    isPlain: true,
  })
  expect(parseRemoteUrl('http://10.0.0.5/app', own).target).toBe('10.0.0.5:80')
  for (const url of [
    'http://10.0.0.5:81/app',
    'http://10.0.0.6:8080/app',
    'http://git.example/app',
  ])
    expect(() => parseRemoteUrl(url, own)).toThrow(/use https/)
})
