import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { GitKit, newest, patch, refusal, whole } from '../git/kit.ts'
import { hasLandlock } from './sandbox-kit.ts'

const noReal = !hasProgram('git') || !hasProgram('bwrap')
const few = { limit: 10 } as const

describe.skipIf(noReal)('git for agents', () => {
  test('a new repository takes a first commit, by name of the agent, and shows it', async () => {
    await using kit = new GitKit()
    expect(await kit.git.init('project', 'main')).toEqual({
      path: kit.at('project'),
      default_branch: 'main',
      head: null,
    })
    expect(await kit.git.status('project', few)).toMatchObject({
      branch: 'main',
      head: null,
      state: 'clean',
    })
    expect((await kit.git.log('project', newest)).commits).toEqual([])
    kit.put('project/a.txt', 'one\ntwo\n')
    kit.put('project/docs/b.txt', 'three\n')
    const made = await kit.git.commit('project', { message: 'First\n\nWith a body' })
    expect(made).toMatchObject({ branch: 'main' })
    expect(made.changes.map(({ path, status }) => [path, status])).toEqual([
      ['a.txt', 'added'],
      ['docs/b.txt', 'added'],
    ])
    const { commits, truncated } = await kit.git.log('project', newest)
    expect(truncated).toBe(false)
    expect(commits).toMatchObject([
      {
        hash: made.commit_hash,
        parents: [],
        author_name: 'coder',
        author_email: 'coder@gatehouse.invalid',
        subject: 'First',
        body: 'With a body',
      },
    ])
    expect(kit.plain('project', 'fsck', '--strict')).toBe('')
    expect(kit.notes[0]).toEqual({ sandbox: 'bubblewrap' })
    expect((await refusal(kit.git.init('project', 'main'))).type).toBe('AlreadyExists')
  })

  test('commits some files and leaves the rest as it was, staged or not', async () => {
    await using kit = new GitKit()
    await kit.repository()
    kit.put('project/b.txt', 'b\n')
    kit.put('project/c/d.txt', 'd\n')
    kit.put('project/staged.txt', 's\n')
    kit.plain('project', 'add', 'staged.txt')
    rmSync(kit.at('project/a.txt'))
    const made = await kit.git.commit('project', {
      message: 'Some',
      files: ['c', kit.at('project/a.txt')],
      authorName: 'Ana',
      authorEmail: 'ana@example.org',
    })
    expect(made.changes).toEqual([
      { path: 'a.txt', status: 'deleted' },
      { path: 'c/d.txt', status: 'added' },
    ])
    const root = await kit.git.show('project', { ref: 'HEAD~1', ...patch })
    expect(root).toMatchObject({
      commit: { subject: 'First', parents: [] },
      totals: { additions: 1 },
    })
    const shown = await kit.git.show('project', { ref: 'HEAD', ...patch })
    expect(shown.files.map(({ path, status }) => [path, status])).toEqual([
      ['a.txt', 'deleted'],
      ['c/d.txt', 'added'],
    ])
    expect(shown.commit).toMatchObject({ author_name: 'Ana', committer_name: 'coder' })
    expect(await kit.git.status('project', few)).toMatchObject({
      staged: [{ path: 'staged.txt', status: 'added' }],
      untracked: [{ path: 'b.txt' }],
    })
    const nothing = await refusal(kit.git.commit('project', { message: 'x', files: ['missing'] }))
    expect(nothing.type).toBe('NothingToCommit')
    await kit.git.commit('project', { message: 'Rest' })
    expect((await refusal(kit.git.commit('project', { message: 'x' }))).type).toBe(
      'NothingToCommit',
    )
  })

  test('ignored files stay out, and a repository inside is not taken along', async () => {
    await using kit = new GitKit()
    await kit.repository()
    await kit.repository('project/inner')
    kit.put('project/.gitignore', '*.log\n')
    kit.put('project/x.log', 'x\n')
    const { changes } = await kit.git.commit('project', { message: 'Ignore' })
    expect(changes).toEqual([{ path: '.gitignore', status: 'added' }])
    expect((await kit.git.status('project', few)).untracked).toEqual([{ path: 'inner/' }])
    expect(
      (await refusal(kit.git.commit('project', { message: 'x', files: ['x.log'] }))).type,
    ).toBe('NothingToCommit')
  })

  test('names of any bytes go in and come out as they are', async () => {
    await using kit = new GitKit()
    await kit.repository()
    const names = [
      '-rf',
      '--output=x',
      'with space',
      'line\nbreak',
      'tab\there',
      '"quoted"',
      ':(top)x',
      '*.txt',
      'ü',
      '# x',
      '? y',
    ]
    for (const name of names) kit.put(`project/${name}`, `${name}\n`)
    writeFileSync(
      Buffer.concat([Buffer.from(kit.at('project/')), Buffer.of(0xff, 0xfe)]),
      'bytes\n',
    )
    const { untracked } = await kit.git.status('project', { limit: 100 })
    expect(untracked.map(({ path }) => path).toSorted()).toEqual(
      [...names, '\ufffd\ufffd'].toSorted(),
    )
    expect(untracked.find(({ path_base64 }) => path_base64)).toMatchObject({ path_base64: '//4=' })
    const some = await kit.git.commit('project', {
      message: 'Odd',
      files: ['-rf', ':(top)x', '*.txt'],
    })
    expect(some.changes.map(({ path }) => path).toSorted()).toEqual(['*.txt', '-rf', ':(top)x'])
    const { changes } = await kit.git.commit('project', { message: 'All' })
    expect(changes).toHaveLength(names.length - 3 + 1)
    const shown = await kit.git.show('project', { ref: 'HEAD', ...patch })
    expect(shown.files.map(({ path }) => path)).toContain('line\nbreak')
    expect(shown.totals).toEqual({ files: 9, additions: 10, deletions: 0 })
    const blamed = await kit.git.blame('project', { file: '--output=x', first: 1, limit: 5 })
    expect(blamed.lines).toMatchObject([{ line: 1, content: '--output=x', summary: 'All' }])
    expect((await kit.git.log('project', { ...newest, file: 'line\nbreak' })).commits).toHaveLength(
      1,
    )
    expect((await kit.git.status('project', few)).state).toBe('clean')
  })

  test('diffs what is staged, what is not, and any two commits, and says where it cut', async () => {
    await using kit = new GitKit()
    const first = await kit.repository()
    kit.put('project/a.txt', 'one\ntwo\n')
    expect(await kit.git.diff('project', whole)).toMatchObject({
      files: [{ path: 'a.txt', status: 'modified', additions: 1, deletions: 0 }],
      totals: { files: 1, additions: 1, deletions: 0 },
      truncated: false,
    })
    expect((await kit.git.diff('project', { ...whole, staged: true })).files).toEqual([])
    kit.plain('project', 'mv', 'a.txt', 'b.txt')
    kit.plain('project', 'add', '-A')
    kit.put('project/blob.bin', Buffer.of(0, 1, 2))
    kit.plain('project', 'add', '-A')
    const staged = await kit.git.diff('project', { ...whole, staged: true })
    expect(staged.files).toMatchObject([
      { path: 'b.txt', old_path: 'a.txt', status: 'renamed', additions: 1 },
      { path: 'blob.bin', status: 'added', additions: null, deletions: null },
    ])
    expect(staged.patch).toContain('rename from a.txt')
    await kit.git.commit('project', { message: 'Second' })
    const between = await kit.git.diff('project', {
      ...whole,
      from: first,
      to: 'main',
      paths: ['blob.bin'],
    })
    expect(between.files).toMatchObject([{ path: 'blob.bin' }])
    const cut = await kit.git.diff('project', {
      ...whole,
      from: first,
      to: 'main',
      patchBytesMax: 60,
    })
    expect(cut.truncated).toBe(true)
    expect(cut.patch).toMatch(/\n$/)
    expect(Buffer.byteLength(cut.patch)).toBeLessThanOrEqual(60)
    const listed = await kit.git.diff('project', {
      ...whole,
      from: first,
      patchBytesMax: 0,
      filesMax: 1,
    })
    expect(listed).toMatchObject({ patch: '', truncated: true, totals: { files: 2 } })
  })

  test('pages through history, by time, author, file and branch', async () => {
    await using kit = new GitKit()
    await kit.repository()
    for (const n of [1, 2, 3]) {
      kit.put('project/a.txt', `${n}\n`)
      await kit.git.commit('project', {
        message: `Change ${n}`,
        authorName: n === 2 ? 'Ben' : 'Ana',
      })
    }
    const page = await kit.git.log('project', { limit: 2, offset: 1, ref: 'main' })
    expect(page.commits.map(({ subject }) => subject)).toEqual(['Change 2', 'Change 1'])
    expect(page.truncated).toBe(true)
    const bens = await kit.git.log('project', { ...newest, author: 'ben' })
    expect(bens.commits.map(({ subject }) => subject)).toEqual(['Change 2'])
    const later = await kit.git.log('project', { ...newest, since: '2199-01-01T00:00:00Z' })
    expect(later.commits).toEqual([])
    const all = await kit.git.log('project', { ...newest, since: '2001-02-03T04:05:06+07:00' })
    expect(all.commits).toHaveLength(4)
    expect((await refusal(kit.git.log('project', { ...newest, ref: 'nowhere' }))).type).toBe(
      'InvalidRef',
    )
  })

  test('branches are made, switched to, merged and deleted, and nothing is lost on the way', async () => {
    await using kit = new GitKit()
    const first = await kit.repository()
    await kit.git.createBranch('project', 'fix/title', 'HEAD')
    expect((await refusal(kit.git.createBranch('project', 'fix/title', 'HEAD'))).type).toBe(
      'GitRefused',
    )
    await kit.git.switchBranch('project', 'fix/title')
    kit.put('project/b.txt', 'b\n')
    await kit.git.commit('project', { message: 'On the branch' })
    const listed = await kit.git.branches('project')
    expect(listed).toMatchObject({ current: 'fix/title', truncated: false })
    expect(listed.branches.map(({ name, subject }) => [name, subject])).toEqual([
      ['fix/title', 'On the branch'],
      ['main', 'First'],
    ])
    expect((await refusal(kit.git.deleteBranch('project', 'fix/title'))).message).toContain(
      'current',
    )
    await kit.git.switchBranch('project', 'main')
    expect(existsSync(kit.at('project/b.txt'))).toBe(false)
    expect((await refusal(kit.git.deleteBranch('project', 'fix/title'))).message).toContain(
      'no other branch',
    )
    kit.put('project/b.txt', 'in the way\n')
    expect((await refusal(kit.git.merge('project', 'fix/title'))).type).toBe('GitRefused')
    rmSync(kit.at('project/b.txt'))
    expect(await kit.git.merge('project', 'fix/title')).toMatchObject({
      result: 'fast_forward',
      conflicts: [],
    })
    expect(await kit.git.merge('project', 'fix/title')).toMatchObject({ result: 'up_to_date' })
    await kit.git.deleteBranch('project', 'fix/title')
    expect((await kit.git.branches('project')).branches.map(({ name }) => name)).toEqual(['main'])
    expect((await refusal(kit.git.switchBranch('project', 'fix/title'))).type).toBe('InvalidRef')
    expect(
      (await kit.git.diff('project', { ...whole, from: first, to: 'main' })).files,
    ).toMatchObject([{ path: 'b.txt', status: 'added' }])
  })

  test('files go back to what they were, whether staged, changed or gone', async () => {
    await using kit = new GitKit()
    const first = await kit.repository()
    kit.put('project/b.txt', 'b\n')
    await kit.git.commit('project', { message: 'Second' })
    kit.put('project/a.txt', 'changed\n')
    rmSync(kit.at('project/b.txt'))
    kit.plain('project', 'add', '-A')
    kit.put('project/new.txt', 'new\n')
    expect((await kit.git.restore('project', ['.'], 'HEAD')).toSorted()).toEqual(['a.txt', 'b.txt'])
    expect(kit.get('project/a.txt')).toBe('one\n')
    expect(kit.get('project/b.txt')).toBe('b\n')
    expect(kit.get('project/new.txt')).toBe('new\n')
    expect(await kit.git.restore('project', ['a.txt'], 'HEAD')).toEqual([])
    expect(await kit.git.restore('project', ['b.txt'], first)).toEqual(['b.txt'])
    expect(existsSync(kit.at('project/b.txt'))).toBe(false)
    expect((await refusal(kit.git.restore('project', ['none.txt'], 'HEAD'))).type).toBe(
      'GitRefused',
    )
  })

  test('a line is told by its commit, and one not committed yet by none', async () => {
    await using kit = new GitKit()
    const first = await kit.repository()
    kit.put('project/a.txt', 'one\ntwo\nthree\n')
    const { lines, truncated } = await kit.git.blame('project', {
      file: 'a.txt',
      first: 1,
      limit: 2,
    })
    expect(truncated).toBe(true)
    expect(lines).toMatchObject([
      { line: 1, content: 'one', commit: first, author_name: 'coder', summary: 'First' },
      { line: 2, content: 'two', commit: null },
    ])
    const far = await refusal(kit.git.blame('project', { file: 'a.txt', first: 99, limit: 1 }))
    expect(far.type).toBe('InvalidArguments')
    const missing = await refusal(kit.git.blame('project', { file: 'no.txt', first: 1, limit: 1 }))
    expect(missing.type).toBe('FileNotFound')
  })

  test('G07 a lock that was left behind is told with its age, and never removed', async () => {
    await using kit = new GitKit()
    await kit.repository()
    kit.put('project/.git/index.lock', '')
    kit.put('project/b.txt', 'b\n')
    expect((await kit.git.status('project', few)).state).toBe('changed')
    const error = await refusal(kit.git.commit('project', { message: 'x' }))
    expect(error.type).toBe('RepoLocked')
    expect(error.facts).toMatchObject({ lock: '.git/index.lock' })
    expect(error.recovery).not.toEqual([])
    expect(existsSync(kit.at('project/.git/index.lock'))).toBe(true)
    rmSync(kit.at('project/.git/index.lock'))
    await kit.git.commit('project', { message: 'x' })
  })

  test('many commits at once wait for each other', async () => {
    await using kit = new GitKit()
    await kit.repository()
    const names = ['b', 'c', 'd', 'e']
    for (const name of names) kit.put(`project/${name}`, name)
    await Promise.all(
      names.map((name) => kit.git.commit('project', { message: name, files: [name] })),
    )
    expect((await kit.git.log('project', newest)).commits).toHaveLength(5)
  })

  test('a folder given read-only can be read, and a folder inside keeps its rules', async () => {
    await using maker = new GitKit()
    await maker.repository()
    await using kit = new GitKit({ mounts: [{ path: maker.at('project'), read_only: true }] })
    expect((await kit.git.status(maker.at('project'), few)).state).toBe('clean')
    const error = await refusal(kit.git.commit(maker.at('project'), { message: 'x' }))
    expect(error.type).toBe('ReadOnlyRoot')
  })

  test('a cancelled call ends git and says so', async () => {
    await using kit = new GitKit()
    await kit.repository()
    const stop = new AbortController()
    stop.abort(new Error('cancelled'))
    await expect(kit.as('git.status', stop.signal).status('project', few)).rejects.toThrow(
      'cancelled',
    )
  })

  test('a commit that is cancelled on its way changes no history, and can be made again', async () => {
    await using kit = new GitKit()
    const first = await kit.repository()
    mkdirSync(kit.at('project/many'))
    for (let n = 0; n < 2000; n++) writeFileSync(kit.at(`project/many/${n}`), `${n}\n`)
    const stop = new AbortController()
    const lock = kit.at('project/.git/index.lock')
    let seen: NodeJS.Timeout | undefined
    kit.beforeRun = ({ args }) => {
      if (!args.includes('update-index')) return
      seen = setInterval(() => existsSync(lock) && stop.abort(new Error('enough')), 1)
    }
    const cancelled = kit.as('git.commit', stop.signal).commit('project', { message: 'x' })
    await expect(cancelled.finally(() => clearInterval(seen))).rejects.toThrow('enough')
    kit.beforeRun = () => {}
    expect((await kit.git.status('project', few)).head).toBe(first)
    // Git takes its lock away when it is told to end; a machine that is too busy for that kills it.
    if (existsSync(lock)) {
      const locked = await refusal(kit.git.commit('project', { message: 'x' }))
      expect(locked.type).toBe('RepoLocked')
      rmSync(lock)
    }
    expect((await kit.git.commit('project', { message: 'x' })).changes).toHaveLength(2000)
  })

  test('a link in the repository is committed as a link', async () => {
    await using kit = new GitKit()
    await kit.repository()
    symlinkSync('/etc/nowhere', kit.at('project/link'))
    mkdirSync(kit.at('project/empty'))
    const { changes } = await kit.git.commit('project', { message: 'Link' })
    expect(changes).toEqual([{ path: 'link', status: 'added' }])
    expect(kit.plain('project', 'cat-file', '-p', 'HEAD:link')).toBe('/etc/nowhere')
  })
})

describe.runIf(hasProgram('git') && hasLandlock)('git where only Landlock keeps it', () => {
  test('makes repositories, commits, branches and merges as ever', async () => {
    await using kit = new GitKit({ mode: 'landlock' })
    await kit.git.init('project', 'main')
    kit.put('project/a.txt', 'one\n')
    await kit.git.commit('project', { message: 'First' })
    kit.put('project/a.txt', 'two\n')
    expect(await kit.git.status('project', few)).toMatchObject({ branch: 'main' })
    const made = await kit.git.commit('project', { message: 'Second' })
    const { commits } = await kit.git.log('project', newest)
    expect(commits.map(({ subject }) => subject)).toEqual(['Second', 'First'])
    expect(commits[0]?.hash).toBe(made.commit_hash)
    expect(kit.plain('project', 'fsck', '--strict')).toBe('')
    expect(kit.notes.every(({ sandbox }) => sandbox === 'landlock')).toBe(true)
  })
})
