import { expect, test } from 'vitest'
import { fieldsOf, repoPath } from './fields.ts'
import { parseBlame } from './parse-blame.ts'
import { parseDiff, totalsOf } from './parse-diff.ts'
import { parseLog, utc } from './parse-log.ts'
import { parseStatus } from './parse-status.ts'

const nul = (...fields: (string | Buffer)[]): Buffer =>
  Buffer.concat(fields.flatMap((field) => [Buffer.from(field as string), Buffer.of(0)]))

const hash = 'a'.repeat(40)
const meta = `N... 100644 100644 100644 ${hash} ${hash}`

test('fields are split at NUL and nowhere else', () => {
  expect(fieldsOf(nul('a\nb', '', 'c')).map(String)).toEqual(['a\nb', '', 'c'])
  expect(fieldsOf(Buffer.from('a\0b')).map(String)).toEqual(['a', 'b'])
  expect(fieldsOf(Buffer.alloc(0))).toEqual([])
})

test('a name that is no UTF-8 is shown, and kept exactly', () => {
  expect(repoPath(Buffer.from('ü'))).toEqual({ path: 'ü' })
  expect(repoPath(Buffer.of(0x61, 0xff))).toEqual({ path: 'a\ufffd', path_base64: 'Yf8=' })
  expect(repoPath(Buffer.from('\ufeffx'))).toEqual({ path: '\ufeffx' })
})

test('a status tells the branch and what it is compared with', () => {
  const status = parseStatus(
    nul(
      `# branch.oid ${hash}`,
      '# branch.head feature/x',
      '# branch.upstream origin/x',
      '# branch.ab +3 -2',
    ),
  )
  expect(status).toMatchObject({
    head: hash,
    branch: 'feature/x',
    upstream: 'origin/x',
    ahead: 3,
    behind: 2,
  })
  expect(parseStatus(nul('# branch.oid (initial)', '# branch.head (detached)'))).toMatchObject({
    head: null,
    branch: null,
    upstream: null,
    ahead: null,
  })
})

test('names in a status may be anything, also what looks like a record', () => {
  const name = '1 M. N... 100644\n? x'
  const status = parseStatus(
    nul(
      `1 MM ${meta} ${name}`,
      `2 R. ${meta} R100 new name`,
      '? old name',
      `u UU N... 100644 100644 100644 100644 ${hash} ${hash} ${hash} both sides`,
      '? -rf',
      Buffer.concat([Buffer.from('? '), Buffer.of(0xff)]),
      '! ignored',
    ),
  )
  expect(status.staged.map(({ change }) => change)).toEqual([
    { path: name, status: 'modified' },
    { path: 'new name', status: 'renamed', old_path: '? old name' },
  ])
  expect(status.unstaged.map(({ change }) => change.path)).toEqual([name])
  expect(status.conflicted.map(({ name: { path } }) => path)).toEqual(['both sides'])
  expect(status.untracked.map(({ bytes }) => bytes.toString('hex'))).toEqual(['2d7266', 'ff'])
})

test('a diff joins what changed with how much, whatever the files are called', () => {
  const raw = (letter: string) => `:100644 100644 ${hash} ${hash} ${letter}`
  const files = parseDiff(
    nul(
      ...[raw('M'), ':odd\tname'],
      ...[raw('R090'), 'from', 'to'],
      ...[raw('A'), 'bin'],
      ...['3\t1\t:odd\tname'],
      ...['2\t0\t', 'from', 'to'],
      ...['-\t-\tbin'],
    ),
  )
  expect(files).toEqual([
    { path: ':odd\tname', status: 'modified', additions: 3, deletions: 1 },
    { path: 'to', old_path: 'from', status: 'renamed', additions: 2, deletions: 0 },
    { path: 'bin', status: 'added', additions: null, deletions: null },
  ])
  expect(totalsOf(files)).toEqual({ files: 3, additions: 5, deletions: 1 })
})

test('a file in conflict is one entry, though git tells it twice', () => {
  const zero = '0'.repeat(40)
  const files = parseDiff(
    nul(
      ...[`:000000 100644 ${zero} ${zero} U`, 'a'],
      ...[`:100644 100644 ${hash} ${zero} M`, 'a'],
      '4\t0\ta',
    ),
  )
  expect(files).toEqual([{ path: 'a', status: 'unmerged', additions: 4, deletions: 0 }])
})

test('a log has nine fields a commit, and messages may hold any line', () => {
  const commits = parseLog(
    nul(
      ...[hash, `${hash} ${hash}`, 'Ana <x>', 'a@b', '2026-01-02T03:04:05+02:00'],
      ...['Ben', '2026-01-02T03:04:05Z', 'commit abc', 'body\n\ncommit def\n\n'],
      ...[hash, '', '', '', 'never', '', '', '', ''],
    ),
  )
  expect(commits).toMatchObject([
    {
      parents: [hash, hash],
      author_name: 'Ana <x>',
      authored_at: '2026-01-02T01:04:05.000Z',
      subject: 'commit abc',
      body: 'body\n\ncommit def',
    },
    { parents: [], authored_at: 'never' },
  ])
  expect(utc('x')).toBe('x')
})

test('blame is read by its headers, and a line may look like one', () => {
  const lines = parseBlame(
    Buffer.from(
      [
        ...[`${hash} 1 1 1`, 'author Ana', 'author-time 1000', 'summary First', 'filename x'],
        `\t${hash} 9 9`,
        ...[`${'0'.repeat(40)} 2 2`, 'author Not Committed Yet', 'author-time 99999999999999'],
        '\tauthor Evil',
        '',
      ].join('\n'),
    ),
  )
  expect(lines).toEqual([
    {
      line: 1,
      content: `${hash} 9 9`,
      commit: hash,
      author_name: 'Ana',
      authored_at: '1970-01-01T00:16:40.000Z',
      summary: 'First',
    },
    {
      line: 2,
      content: 'author Evil',
      commit: null,
      author_name: 'Not Committed Yet',
      authored_at: '9999-12-31T23:59:59.000Z',
      summary: '',
    },
  ])
})
