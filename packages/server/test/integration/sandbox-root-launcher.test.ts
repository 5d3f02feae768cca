import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { SandboxKit } from './sandbox-kit.ts'

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Root launchers that were started by this process and wait for their order. */
const waiting = (): readonly number[] =>
  readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) &&
    read(`/proc/${name}/status`).includes(`\nPPid:\t${process.pid}\n`) &&
    read(`/proc/${name}/cmdline`) === '/usr/bin/perl\0/proc/self/fd/6\0'
      ? [Number(name)]
      : [],
  )

const oneWaits = async (): Promise<number> => {
  await expect.poll(waiting).toHaveLength(1)
  return waiting()[0] as number
}

describe.runIf(process.getuid?.() === 0 && hasProgram('bwrap'))('the root launcher', () => {
  test('waits for the next program once one has run, and serves one alone', async () => {
    await using kit = new SandboxKit({ mode: 'bubblewrap' })
    expect(waiting()).toEqual([])
    expect((await kit.shell('echo first')).stdout).toBe('first\n')
    const next = await oneWaits()
    const child = await kit.sandbox.spawn(kit.spec('sleep', ['60']))
    expect(child.pid).toBe(next)
    expect(waiting()).toEqual([])
    expect((await kit.shell('echo beside it')).stdout).toBe('beside it\n')
    expect(await oneWaits()).not.toBe(next)
    await child.end(0)
  })

  test('has nothing of the service and of any agent while it waits', async () => {
    await using kit = new SandboxKit({ mode: 'bubblewrap' })
    await kit.shell('echo secret > kept')
    const pid = await oneWaits()
    expect(read(`/proc/${pid}/environ`)).toBe('')
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/')
    expect(readlinkSync(`/proc/${pid}/ns/mnt`)).toBe(readlinkSync('/proc/self/ns/mnt'))
    const linksOf = (who: number) =>
      readdirSync(`/proc/${who}/fd`).flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/${who}/fd/${fd}`)]
        } catch {
          return []
        }
      })
    // Flags of the test runner itself come along, as with any child.
    const open = () => {
      const ours = linksOf(process.pid)
      const own = linksOf(pid).filter((link) => !ours.includes(link))
      return own.map((link) => link.replace(/^socket:.*/, 'socket')).toSorted()
    }
    const made = ['filter-local', 'init.pl', 'root-launcher.pl'].map(
      (name) => `${kit.dataDir}/sandbox/${name}`,
    )
    // Three for the program and the channel.
    await expect.poll(open).toEqual([...made, ...Array(4).fill('socket')])
  })

  test('is not needed: where it was killed, the next program starts without it', async () => {
    await using kit = new SandboxKit({ mode: 'bubblewrap' })
    await kit.shell('true')
    const pid = await oneWaits()
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false)
    expect((await kit.shell('echo again')).stdout).toBe('again\n')
  })

  test('is not left when the sandbox is closed', async () => {
    const kit = new SandboxKit({ mode: 'bubblewrap' })
    await kit.shell('true')
    await oneWaits()
    await kit[Symbol.asyncDispose]()
    await expect.poll(waiting).toEqual([])
  })
})
