import { createHash } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { parseArguments } from '@gatehouse/testkit'
import { threadMs } from '@gatehouse/testkit/processor-time'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { typeOf } from '../../../test/kit/type-of.ts'
import { createFilesFactory } from '../../files/create-files-factory.ts'
import type { Capability, CapabilityContext, PreviewContext } from '../../ports/capability.ts'
import { filesystemCapabilities } from './index.ts'

type Args = Readonly<Record<string, unknown>>

const find = (name: string): Capability => {
  const found = filesystemCapabilities.find((c) => c.name === `filesystem.${name}`)
  if (!found) throw new Error(`there is no filesystem.${name}`)
  return found
}

let made = 0

/** A workspace and the way a call takes: arguments checked, run, data checked against what is declared. */
const ajv = new Ajv2020({ strict: false, validateFormats: false })

/** Fields of a result that the definition does not tell of. */
const asDescribed = ({ output_schema }: Capability, data: unknown): unknown => {
  const fits = ajv.compile(output_schema)
  return fits(data) ? [] : fits.errors
}

const open = () => {
  const root = mkdtempSync(path.join(tmpdir(), 'gatehouse-fs-'))
  const ids = {
    next: (prefix: string) => `${prefix}-${String(made++).padStart(26, '0')}`,
    secret: () => Buffer.alloc(32),
  }
  const clock = {
    wall: () => Date.now(),
    now: () => Date.now(),
    sleep: async () => {},
    after: () => ({ [Symbol.dispose]: () => {} }),
  }
  const factory = createFilesFactory({ ids, clock })
  const files = factory.open({ name: 'alpha', workspace: root, mounts: [] })
  const watched: unknown[] = []
  const noted: unknown[] = []
  const context = (signal: AbortSignal): CapabilityContext =>
    ({
      files,
      ids,
      clock,
      signal,
      request_id: 'req-1',
      session_id: null,
      agent: { name: 'alpha', purpose: '', status: 'active', workspace: root },
      note: (facts) => noted.push(facts),
      progress: () => {},
      watches: {
        add: async (watch) => `watch-${watched.push(watch)}`,
        remove: async (watch_id) => {
          if (watch_id !== 'watch-1') throw new GatehouseError('WatchNotFound', { watch_id })
          return { withheld: 0 }
        },
      },
    }) as Partial<CapabilityContext> as CapabilityContext
  const call = async (name: string, given: Args, signal = new AbortController().signal) => {
    const capability = find(name)
    const args = parseArguments(capability, given)
    const data = await capability.run(context(signal), args as never)
    expect(asDescribed(capability, data)).toEqual([])
    return data
  }
  const show = async (name: string, given: Args) => {
    const capability = find(name)
    const args = parseArguments(capability, given)
    const seeing = { files, signal: new AbortController().signal } as PreviewContext
    return {
      preview: (await capability.preview?.(args, seeing)) as { kind: string; text: string },
      resolved: await capability.resolve?.(args, seeing),
    }
  }
  return {
    root,
    watched,
    noted,
    call,
    show,
    at: (name: string) => path.join(root, name),
    put: (name: string, content: string | Buffer) => {
      mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
      writeFileSync(path.join(root, name), content)
    },
    get: (name: string) => readFileSync(path.join(root, name), 'utf8'),
    [Symbol.dispose]: () => {
      factory[Symbol.dispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

const sha = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

test('every capability describes each of its inputs, shows a pattern that fits and its errors', () => {
  expect(filesystemCapabilities.map((c) => c.name.split('.')[1])).toEqual(
    'append copy delete edit list mkdir move read restore search search_content stat unwatch watch write'.split(
      ' ',
    ),
  )
  for (const capability of filesystemCapabilities) {
    for (const field of capability.description.inputs) {
      expect([capability.name, field.name, field.description]).not.toContain(undefined)
    }
    expect([capability.name, capability.common_patterns.length]).not.toContain(0)
    for (const pattern of capability.common_patterns) {
      expect(capability.parse(pattern.arguments).kind).toBe('valid')
    }
    expect(capability.errors.length).toBeGreaterThan(0)
    if (capability.effect !== 'none') expect(capability.side_effects).not.toEqual([])
    expect([capability.effect, capability.notify]).not.toEqual(['none', true])
  }
  expect(find('delete')).toMatchObject({ tier: 'approval_required', critical: false })
  expect(find('write')).toMatchObject({ tier: 'autonomous', notify: true })
})

test('reads text with the data that the contract names', async () => {
  using kit = open()
  kit.put('notes.txt', 'Grüße\n')
  const data = await kit.call('read', { path: 'notes.txt' })
  expect(data).toEqual({
    content: 'Grüße\n',
    encoding: 'utf-8',
    size_bytes: 8,
    modified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    sha256: sha('Grüße\n'),
    truncated: false,
    offset: 0,
    next_offset: null,
  })
  expect(find('read').text?.(data)).toBe('Grüße\n')
})

test('never splits a character, and ranges read one after the other give the whole', async () => {
  using kit = open()
  const text = 'aé€😀'.repeat(50)
  kit.put('mixed', text)
  for (const limit of [1, 2, 3, 4, 7, 64]) {
    let content = ''
    let offset: number | null = 0
    while (offset !== null) {
      const part = await kit.call('read', { path: 'mixed', offset, limit })
      expect(part['offset']).toBe(offset)
      content += String(part['content'])
      offset = part['next_offset'] as number | null
    }
    expect(content).toBe(text)
  }
  const inside = await kit.call('read', { path: 'mixed', offset: 2, limit: 1 })
  expect(inside).toMatchObject({ content: 'é', offset: 1, next_offset: 3, sha256: null })
})

test('cuts a long file at a mebibyte and says how to go on', async () => {
  using kit = open()
  kit.put('long', 'x'.repeat(1_048_576 + 10))
  const first = await kit.call('read', { path: 'long' })
  expect(first).toMatchObject({ truncated: true, next_offset: 1_048_576, sha256: null })
  const rest = await kit.call('read', { path: 'long', offset: 1_048_576 })
  expect(rest).toMatchObject({ content: 'x'.repeat(10), truncated: false, next_offset: null })
  const past = await kit.call('read', { path: 'long', offset: 9_999_999 })
  expect(past).toMatchObject({ content: '', truncated: false })
})

test('refuses bytes that are no UTF-8 and names the way, which works', async () => {
  using kit = open()
  const bytes = Buffer.from([0x47, 0xff, 0xfe, 0x00, 0x80])
  kit.put('image', bytes)
  await expect(kit.call('read', { path: 'image' })).rejects.toMatchObject({
    type: 'InvalidEncoding',
    recovery: [{ action: 'filesystem.read' }],
  })
  const base64 = await kit.call('read', { path: 'image', encoding: 'base64' })
  expect(base64['content']).toBe(bytes.toString('base64'))
  const latin1 = await kit.call('read', { path: 'image', encoding: 'latin1' })
  expect(latin1['content']).toBe(bytes.toString('latin1'))
})

test('keeps a byte order mark, so that reading and writing back changes nothing', async () => {
  using kit = open()
  kit.put('bom', '\ufeffx')
  const { content } = await kit.call('read', { path: 'bom' })
  const { sha256 } = await kit.call('write', { path: 'bom', content })
  expect(sha256).toBe(sha('\ufeffx'))
})

test('writes text, base64 and latin1 as given, and refuses what would be lost', async () => {
  using kit = open()
  await kit.call('write', { path: 'a', content: 'AP8=', encoding: 'base64' })
  expect(readFileSync(kit.at('a'))).toEqual(Buffer.from([0, 255]))
  await kit.call('write', { path: 'b', content: 'é', encoding: 'latin1' })
  expect(readFileSync(kit.at('b'))).toEqual(Buffer.from([0xe9]))
  for (const [content, encoding] of [
    ['A*', 'base64'],
    ['AP8', 'base64'],
    ['€', 'latin1'],
    ['\ud800', 'utf-8'],
  ]) {
    expect(await typeOf(kit.call('write', { path: 'c', content, encoding }))).toBe(
      'InvalidEncoding',
    )
  }
})

test('writes only over what was read when told its sha256', async () => {
  using kit = open()
  kit.put('config', 'one')
  const { sha256 } = await kit.call('read', { path: 'config' })
  await kit.call('write', { path: 'config', content: 'two', if_sha256: sha256 })
  const again = kit.call('write', { path: 'config', content: 'three', if_sha256: sha256 })
  await expect(again).rejects.toMatchObject({ type: 'FileChanged', facts: { sha256: sha('two') } })
  expect(kit.get('config')).toBe('two')
})

test('lists by name, size and time, hidden names only when asked', async () => {
  using kit = open()
  kit.put('b', '22')
  kit.put('a', '333')
  kit.put('.hidden', '')
  mkdirSync(kit.at('c'))
  const times: readonly (readonly [string, number])[] = [
    ['a', 1],
    ['b', 3],
    ['c', 2],
  ]
  for (const [name, t] of times) utimesSync(kit.at(name), t, t)
  const names = async (args: Args) =>
    ((await kit.call('list', { path: '.', ...args }))['entries'] as { name: string }[]).map(
      (e) => e.name,
    )
  expect(await names({})).toEqual(['a', 'b', 'c'])
  expect(await names({ include_hidden: true })).toEqual(['.hidden', 'a', 'b', 'c'])
  expect(await names({ sort_by: 'modified' })).toEqual(['b', 'c', 'a'])
  expect((await names({ sort_by: 'size' })).filter((n) => n !== 'c')).toEqual(['a', 'b'])
  expect(await names({ sort_by: 'type' })).toEqual(['c', 'a', 'b'])
  expect(await kit.call('list', { path: '.', limit: 2 })).toMatchObject({
    total: 3,
    truncated: true,
  })
})

test('stat answers for what is missing, and describes what is there', async () => {
  using kit = open()
  kit.put('a', 'aaa')
  expect(await kit.call('stat', { path: 'none/deeper' })).toMatchObject({
    exists: false,
    type: null,
  })
  expect(await kit.call('stat', { path: 'a' })).toMatchObject({
    path: kit.at('a'),
    exists: true,
    type: 'file',
    size_bytes: 3,
    permissions: expect.stringMatching(/^0[0-7]{3}$/),
  })
  expect(await kit.call('stat', { path: '.' })).toMatchObject({ type: 'directory' })
})

test('an approver sees the diff of a write, an append and an edit, whole', async () => {
  using kit = open()
  kit.put('a', 'one\ntwo\n')
  const { preview } = await kit.show('write', { path: 'a', content: 'one\nTWO\n' })
  expect(preview).toMatchObject({ kind: 'diff', path: kit.at('a') })
  expect(preview.text).toContain('-two\n+TWO')
  const fresh = await kit.show('write', { path: 'new', content: 'x\n' })
  expect(fresh.preview.text).toContain('--- /dev/null')
  const appended = await kit.show('append', { path: 'a', content: 'three\n' })
  expect(appended.preview.text).toContain('+three')
  const edited = await kit.show('edit', { path: 'a', pattern: 'two', replace: '2' })
  expect(edited.preview.text).toContain('-two\n+2')
  const binary = Buffer.from([0, 1, 2])
  kit.put('b', binary)
  const described = await kit.show('write', { path: 'b', content: 'AAEC', encoding: 'base64' })
  expect(described.preview.text).toContain(`3 bytes, sha256 ${sha(binary)}`)
})

test('an approver sees commands for delete, move and copy, quoted where names are odd', async () => {
  using kit = open()
  kit.put('odd name\n', 'x')
  const { preview } = await kit.show('delete', { path: 'odd name\n' })
  expect(preview.kind).toBe('command')
  expect(preview.text).toMatch(/^rm '.*odd name\n' {2}# file of 1 byte, .*into the trash$/)
  const moved = await kit.show('move', { source: 'odd name\n', destination: 'b', overwrite: true })
  expect(moved.preview.text).toContain('replaces a file')
})

test('an approval binds what it touches, and an append only which file it is', async () => {
  using kit = open()
  kit.put('a', 'one')
  kit.put('b', 'other')
  const uses: readonly (readonly [string, Args])[] = [
    ['write', { path: 'a', content: 'x' }],
    ['delete', { path: 'a' }],
    ['move', { source: 'a', destination: 'b' }],
    ['copy', { source: 'b', destination: 'a' }],
    ['edit', { path: 'a', pattern: 'n', replace: 'm' }],
  ]
  const before = await Promise.all(uses.map(([name, args]) => kit.show(name, args)))
  const same = await Promise.all(uses.map(([name, args]) => kit.show(name, args)))
  expect(same.map((s) => s.resolved)).toEqual(before.map((s) => s.resolved))
  const appending = await kit.show('append', { path: 'a', content: 'x' })
  kit.put('a', 'One, altered')
  for (const [i, [name, args]] of uses.entries()) {
    expect((await kit.show(name, args)).resolved).not.toEqual(before[i]?.resolved)
  }
  expect((await kit.show('append', { path: 'a', content: 'x' })).resolved).toEqual(
    appending.resolved,
  )
  rmSync(kit.at('a'))
  symlinkSync('b', kit.at('a'))
  expect((await kit.show('append', { path: 'a', content: 'x' })).resolved).not.toEqual(
    appending.resolved,
  )
})

test('edits one place, and changes nothing when it finds more or none', async () => {
  using kit = open()
  kit.put('a', 'x = 1\ny = 1\n')
  expect(await typeOf(kit.call('edit', { path: 'a', pattern: '1', replace: '2' }))).toBe(
    'EditMismatch',
  )
  expect(await typeOf(kit.call('edit', { path: 'a', pattern: 'z', replace: '2' }))).toBe(
    'EditMismatch',
  )
  expect(
    await typeOf(kit.call('edit', { path: 'a', pattern: 'z', replace: '2', replace_all: true })),
  ).toBe('EditMismatch')
  expect(kit.get('a')).toBe('x = 1\ny = 1\n')
  const data = await kit.call('edit', { path: 'a', pattern: 'x = 1\ny', replace: 'x = $1\ny' })
  expect(data).toMatchObject({ applied: true, total_replacements: 1 })
  expect(data['diff']).toContain('-x = 1\n+x = $1')
  expect(kit.get('a')).toBe('x = $1\ny = 1\n')
})

test('edits with a regex and its groups, over many files, after a dry run that changes nothing', async () => {
  using kit = open()
  kit.put('src/a.ts', 'oldName(1) oldNames\n')
  kit.put('src/deep/b.ts', 'oldName(2)\noldName(3)\n')
  kit.put('src/c.md', 'oldName(4)\n')
  kit.put('src/d.ts', Buffer.from([0xff, 0xfe]))
  const args = {
    root: 'src',
    include_glob: '*.ts',
    pattern: '\\boldName\\((?<arg>\\d)\\)',
    replace: 'newName(/* was */ $<arg>)',
    regex: true,
    expected_replacements: 3,
  }
  const dry = await kit.call('edit', { ...args, dry_run: true })
  expect(dry).toMatchObject({ applied: false, total_replacements: 3, skipped_files: 1 })
  expect(kit.get('src/a.ts')).toBe('oldName(1) oldNames\n')
  expect(await typeOf(kit.call('edit', { ...args, expected_replacements: 2 }))).toBe('EditMismatch')
  const done = await kit.call('edit', args)
  expect(done['files']).toEqual(dry['files'])
  expect(kit.get('src/deep/b.ts')).toBe('newName(/* was */ 2)\nnewName(/* was */ 3)\n')
  expect(kit.get('src/c.md')).toBe('oldName(4)\n')
})

test('an edit says what to give when its arguments contradict each other', () => {
  const edit = find('edit')
  const base = { pattern: 'a', replace: 'b' }
  const bad = [
    base,
    { ...base, root: '.' },
    { ...base, path: 'a', root: '.', include_glob: '*' },
    { ...base, path: 'a', root: '.' },
    { ...base, path: 'a', replace_all: true, expected_replacements: 2 },
  ]
  for (const args of bad) expect(edit.parse(args).kind).toBe('invalid')
  expect(edit.parse({ ...base, path: 'a' }).kind).toBe('valid')
  const many = { ...base, root: '.', include_glob: '*', replace_all: true }
  expect(edit.parse(many).kind).toBe('valid')
})

test('finds files by name, size and time, and counts what it does not show', async () => {
  using kit = open()
  for (const name of ['src/a.ts', 'src/deep/b.ts', 'c.md', '.git/x.ts']) kit.put(name, name)
  utimesSync(kit.at('c.md'), 1, 1)
  const paths = async (args: Args) =>
    ((await kit.call('search', { path: '.', ...args }))['matches'] as { path: string }[]).map((m) =>
      m.path.slice(kit.root.length + 1),
    )
  expect(await paths({ pattern: '*.ts' })).toEqual(['src/a.ts', 'src/deep/b.ts'])
  expect(await paths({ pattern: 'src/*' })).toEqual(['src/a.ts', 'src/deep'])
  expect(await paths({ pattern: '**', min_size: 8 })).toEqual(['src/a.ts', 'src/deep/b.ts'])
  expect(await paths({ pattern: '*.*', modified_after: '2001-01-01T00:00:00Z' })).not.toContain(
    'c.md',
  )
  const cut = await kit.call('search', { path: '.', pattern: '*.ts', max_results: 1 })
  expect(cut).toMatchObject({ total_matches: 2, truncated: true })
  expect(await typeOf(kit.call('search', { path: '.', pattern: '*.{ts,md}' }))).toBe(
    'InvalidPattern',
  )
})

test('groups files, and counts equal ones once', async () => {
  using kit = open()
  kit.put('a.ts', 'same')
  kit.put('deep/b.ts', 'same')
  kit.put('deep/c.ts', 'diff')
  kit.put('deep/d.md', 'longer text')
  const by = async (group_by: string, dedupe = false) =>
    kit.call('search', { path: '.', pattern: '**', aggregate: { group_by, dedupe } })
  expect((await by('extension'))['groups']).toEqual([
    { key: '.ts', count: 3, size_bytes: 12, newest: expect.any(String) },
    { key: '.md', count: 1, size_bytes: 11, newest: expect.any(String) },
  ])
  expect((await by('directory'))['groups']).toMatchObject([
    { key: 'deep', count: 3 },
    { key: '.', count: 1 },
  ])
  const deduped = await by('none', true)
  expect(deduped['groups']).toMatchObject([{ key: 'all', count: 3 }])
  expect(deduped['duplicates']).toEqual([
    { sha256: sha('same'), size_bytes: 4, paths: [kit.at('a.ts'), kit.at('deep/b.ts')] },
  ])
  expect(deduped['total_matches']).toBe(4)
})

test('finds text with its lines around it, in each mode', async () => {
  using kit = open()
  kit.put('a.log', 'zero\r\none INFO\r\ntwo WARN\r\nthree INFO INFO\r\n')
  kit.put('sub/b.log', 'INFO')
  kit.put('c.bin', Buffer.from('INFO\0'))
  kit.put('.git/d', 'INFO')
  const base = { path: '.', pattern: 'INFO' }
  const found = await kit.call('search_content', { ...base, context_lines: 1 })
  expect(found).toMatchObject({
    total: 4,
    files_matched: 2,
    files_searched: 2,
    skipped_files: 1,
    truncated: false,
  })
  expect((found['matches'] as unknown[])[0]).toEqual({
    path: kit.at('a.log'),
    line: 2,
    column: 5,
    text: 'one INFO',
    before: ['zero'],
    after: ['two WARN'],
  })
  expect(await kit.call('search_content', { ...base, mode: 'files' })).toMatchObject({
    files: [
      { path: kit.at('a.log'), count: 3 },
      { path: kit.at('sub/b.log'), count: 1 },
    ],
  })
  const count = await kit.call('search_content', { ...base, mode: 'count' })
  expect([count['total'], count['matches'], count['files']]).toEqual([4, undefined, undefined])
  const levels = { path: 'a.log', pattern: '(?:^| )(INFO|WARN)\\b', regex: true, mode: 'count_by' }
  expect((await kit.call('search_content', levels))['counts']).toEqual([
    { key: 'INFO', count: 3 },
    { key: 'WARN', count: 1 },
  ])
  const cut = await kit.call('search_content', { ...base, limit: 1, include_glob: '*.log' })
  expect([(cut['matches'] as unknown[]).length, cut['total'], cut['truncated']]).toEqual([
    1,
    4,
    true,
  ])
})

test('a search ends when the caller has gone', async () => {
  using kit = open()
  for (let i = 0; i < 50; i++) kit.put(`d${i}/f`, 'text')
  const stop = new AbortController()
  stop.abort()
  for (const [name, args] of [
    ['search', { path: '.', pattern: '**' }],
    ['search_content', { path: '.', pattern: 'x' }],
  ] as const) {
    expect(await typeOf(kit.call(name, args, stop.signal))).toBe('Cancelled')
  }
})

test('a search of many files never holds the event loop for long', async () => {
  using kit = open()
  const text = 'some words of a line that goes on for a while\n'.repeat(2_000)
  for (let i = 0; i < 40; i++) kit.put(`d${i % 5}/f${i}.txt`, text)
  let longest = 0
  let last = threadMs()
  const timer = setInterval(() => {
    longest = Math.max(longest, threadMs() - last)
    last = threadMs()
  }, 1)
  try {
    const args = { path: '.', pattern: '(?i)GOES (on|off)\\b.*while', regex: true, mode: 'count' }
    expect(await kit.call('search_content', args)).toMatchObject({ total: 80_000 })
  } finally {
    clearInterval(timer)
  }
  if (process.env['GATEHOUSE_FULL'] === '1') process.stderr.write(`longest hold ${longest} ms\n`)
  // Without slices and the worker it is seconds.
  expect(longest).toBeLessThan(250)
})

test('deletes and restores, makes folders, copies and moves', async () => {
  using kit = open()
  await kit.call('mkdir', { path: 'a/b' })
  await kit.call('append', { path: 'a/b/log', content: 'x\n' })
  await kit.call('copy', { source: 'a/b/log', destination: 'copy' })
  await kit.call('move', { source: 'copy', destination: 'moved' })
  expect(kit.get('moved')).toBe('x\n')
  const { trash_id } = await kit.call('delete', { path: 'a', recursive: true })
  expect(await typeOf(kit.call('read', { path: 'a/b/log' }))).toBe('FileNotFound')
  expect(await kit.call('restore', { trash_id })).toEqual({ path: kit.at('a') })
  expect(kit.noted).toEqual([{ object: kit.at('a') }])
  expect(kit.get('a/b/log')).toBe('x\n')
})

test('passes a watch on as asked, and ends it by its id', async () => {
  using kit = open()
  const data = await kit.call('watch', { path: '.', pattern: '*.md', events: ['created'] })
  expect(kit.watched).toEqual([
    { path: '.', recursive: false, pattern: '*.md', events: ['created'] },
  ])
  expect(await kit.call('unwatch', data)).toEqual({
    watch_id: 'watch-1',
    stopped: true,
    withheld: 0,
  })
  expect(await typeOf(kit.call('unwatch', { watch_id: 'watch-9' }))).toBe('WatchNotFound')
})
