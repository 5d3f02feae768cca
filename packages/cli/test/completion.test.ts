import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import { candidates } from '../src/commands/complete.ts'
import { createCliKit } from './kit.ts'

const nowhere = { named: true, dirs: ['/does/not/exist'] } as const

test('offers nouns, then verbs, then options', async () => {
  expect(await candidates(['app'], nowhere)).toContain('approvals')
  expect(await candidates([''], nowhere)).not.toContain('__complete')
  expect(await candidates(['agent', ''], nowhere)).toEqual([
    'create',
    'list',
    'show',
    'edit',
    'pause',
    'resume',
    'move',
    'rotate',
    'revoke',
    'restore',
  ])
  const options = await candidates(['agent', 'create', 'x', '--'], nowhere)
  expect(options).toContain('--purpose')
  expect(options).toContain('--json')
})

test('completes nothing, quietly, where no server runs', async () => {
  const ran = await createCliKit().gatehouse(['__complete', '--', 'agent\nshow\n'], {
    env: { GATEHOUSE_DATA_DIR: nowhere.dirs[0] },
  })
  expect(ran).toEqual({ code: 0, out: '', err: '' })
})

test.each(['bash', 'zsh', 'fish', 'powershell'])('prints a script for %s', async (shell) => {
  const { code, out } = await createCliKit().gatehouse(['completion', shell])
  expect(code).toBe(0)
  expect(out).toContain('gatehouse __complete -- ')
  // Each shell that is here reads its own without running it.
  if (shell === 'powershell') return
  const file = join(makeTemporaryFolder(), 'completion')
  writeFileSync(file, out)
  const { error, status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
  expect(error ? 'no such shell' : `${status} ${stderr}`).toMatch(/^(?:no such shell|0 )$/)
})

/** What each shell runs at Tab, after `gatehouse approvals ` was typed. */
const atTab = {
  bash: 'COMP_WORDS=(gatehouse approvals ""); COMP_CWORD=2; _gatehouse; printf "%s\\n" ${COMPREPLY[@]}',
  zsh: 'words=(gatehouse approvals ""); CURRENT=3; compadd() { print -l $found }; _gatehouse',
  fish: 'complete -C "gatehouse approvals "',
}

test.each([
  ['bash', true],
  ['zsh', hasProgram('zsh')],
  ['fish', hasProgram('fish')],
] as const)('completes verbs in %s', (shell, isHere) => {
  if (!isHere) return
  const home = makeTemporaryFolder()
  symlinkSync(join(import.meta.dirname, '../bin/gatehouse.js'), join(home, 'gatehouse'))
  const script = join(import.meta.dirname, '../completions', `gatehouse.${shell}`)
  const start = shell === 'zsh' ? 'compdef() { : };' : ''
  const line = `${start} source ${script}; ${atTab[shell]}`
  const env = { PATH: `${home}:${process.env.PATH}`, HOME: home, GATEHOUSE_DATA_DIR: '/none' }
  const { stdout } = spawnSync(shell, ['-c', line], { env, encoding: 'utf8' })
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['list', 'approve', 'reject']))
})

test('installs completion for the login shell once, after showing it, and undoes it', async () => {
  const kit = createCliKit()
  const home = makeTemporaryFolder()
  const profile = join(home, '.bashrc')
  writeFileSync(profile, 'alias ll="ls -l"')
  const ask = (line: readonly string[], answer = 'y') =>
    kit.gatehouse(['completion', ...line], {
      ...{ columns: 100, answer },
      env: { HOME: home, SHELL: '/bin/bash' },
    })
  const declined = await ask(['--install'], 'n')
  expect(declined.code).toBe(1)
  expect(declined.err).toContain(`+source ${home}/.config/gatehouse/complete.bash`)
  expect(readFileSync(profile, 'utf8')).toBe('alias ll="ls -l"')

  expect(await ask(['--install'])).toMatchObject({
    code: 0,
    out: expect.stringContaining('Completion for bash is installed.'),
  })
  const installed = readFileSync(profile, 'utf8')
  expect(installed).toMatch(/^alias ll="ls -l"\nsource .* # added by Gatehouse\n$/)
  expect((await ask(['--install'])).out).toContain('Nothing to change')
  const shell = spawnSync('bash', ['-c', `source ${profile}; complete -p gatehouse`], {
    encoding: 'utf8',
  })
  expect([shell.stdout, shell.stderr]).toEqual([
    'complete -o default -F _gatehouse gatehouse\n',
    '',
  ])

  expect((await ask(['bash', '--undo'])).code).toBe(0)
  expect(readFileSync(profile, 'utf8')).toBe('alias ll="ls -l"\n')
  expect(existsSync(join(home, '.config/gatehouse/complete.bash'))).toBe(false)
})

test.each([
  ['zsh', '.zshrc'],
  ['fish', '.config/fish/completions/gatehouse.fish'],
])('shows what --install would change for %s, and writes nothing', async (shell, file) => {
  const home = makeTemporaryFolder()
  const line = ['completion', shell, '--install', '--dry-run']
  const { code, out } = await createCliKit().gatehouse(line, { env: { HOME: home } })
  expect([code, out]).toEqual([0, expect.stringContaining(`+++ ${join(home, file)}`)])
  expect(existsSync(join(home, file))).toBe(false)
})

test('installs no completion that could not find the command', async () => {
  const line = ['completion', 'bash', '--install']
  const { code, err } = await createCliKit().gatehouse(line, { program: 'npx gatehoused' })
  expect([code, err]).toEqual([1, expect.stringContaining('npm install -g gatehoused')])
  const other = await createCliKit().gatehouse(['completion', 'powershell', '--install'])
  expect([other.code, other.err]).toEqual([2, expect.stringContaining('bash, zsh and fish')])
})
