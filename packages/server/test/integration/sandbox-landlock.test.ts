import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SandboxOptions } from '../../src/sandbox/create-sandbox.ts'
import { hasLandlock, ownUser, SandboxKit } from './sandbox-kit.ts'

const canary = 'CANARY-LL-77d0'
const open = (options: Partial<SandboxOptions> = {}) =>
  new SandboxKit({ mode: 'landlock', ...options })

/** A folder beside the data that belongs to whoever runs programs: only the sandbox keeps them out of it. */
const theirs = (kit: SandboxKit): string => {
  const uid = Number(ownUser() ?? process.getuid?.())
  const file = join(kit.outside, 'theirs')
  writeFileSync(file, canary, { mode: 0o644 })
  chmodSync(kit.outside, 0o755)
  if (ownUser() !== null) for (const path of [kit.outside, file]) chownSync(path, uid, uid)
  return file
}

const listening = async (server: Server, where: string | { port: number; host: string }) => {
  let visits = 0
  server.on('connection', (socket) => {
    visits += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(where, resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    visits: () => visits,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

/** A Unix socket of the host that has a name, but no path. */
const openAbstract = async (name: string): Promise<void> => {
  const script = `my $s; socket($s, 1, 1, 0) && bind($s, pack('S a*', 1, "\\0${name}")) && listen($s, 9) or die; $| = 1; print 'up'; sleep 60`
  const server = spawn('/usr/bin/perl', ['-e', script])
  onTestFinished(() => void server.kill('SIGKILL'))
  await once(server.stdout, 'data')
}

describe.runIf(hasLandlock)('a program that Landlock keeps', () => {
  test('reads, lists, writes and runs nothing but what it was given; without the rules it would', async () => {
    const script = (file: string) => `
      cat ${file}; ls ${file}/..; ls /; cat link; cat /proc/self/status; ls /proc
      echo changed > ${file} && echo written; echo new > ${file}.new && echo made
      rm ${file} && echo removed; mv ${file}.new ${file}.moved && echo moved; ln ${file} taken && echo linked
      cat mine`
    await using kit = open()
    const file = theirs(kit)
    symlinkSync(file, join(kit.workspace, 'link'))
    writeFileSync(join(kit.workspace, 'mine'), 'mine')
    expect((await kit.shell(script(file))).stdout).toBe('mine')
    expect(readFileSync(file, 'utf8')).toBe(canary)
    await using loose = open({ without: ['paths'] })
    const seen = await loose.shell(script(theirs(loose)))
    expect(seen.stdout).toContain(canary)
    expect(seen.stdout).toMatch(/written\nmade\nremoved\nmoved\n/)
  })

  test('changes no mode, owner, time or attribute of what it was not given; unfiltered it would', async () => {
    const script = (file: string) =>
      `chmod 0777 ${file} && echo changed; touch -d 2001-01-01 ${file} && echo touched; true`
    await using kit = open()
    const file = theirs(kit)
    const before = statSync(file)
    expect((await kit.shell(script(file))).stdout).toBe('')
    expect(statSync(file)).toMatchObject({ mode: before.mode, mtimeMs: before.mtimeMs })
    await using loose = open({ without: ['attributes'] })
    expect((await loose.shell(script(theirs(loose)))).stdout).toContain('changed\n')
  })

  test('changes the modes of what it was given, however it names it and whoever asks', async () => {
    await using kit = open()
    const { stdout, stderr } = await kit.shell(`
      mkdir d; touch a d/b; ln -s ../a d/link; cd d
      chmod 700 .; chmod 751 ../a; chmod 640 b; stat -c '%a %n' . ../a b
      chmod 711 link "$PWD/b"; stat -c '%a %n' ../a b
      perl -e 'chmod 0604, "b"; opendir my $d, "."; print chmod(04755, "b") ? "set\n" : "refused\n"'; stat -c %a b
      (setsid sh -c 'sleep 0.1; chmod 600 b' &)
      n=0; while [ "$(stat -c %a b)" != 600 ] && [ $n -lt 200 ]; do sleep 0.05; n=$((n+1)); done; stat -c %a b
      chmod 700 missing 2>/dev/null || echo missing`)
    expect({ stdout, stderr }).toEqual({
      stdout: '700 .\n751 ../a\n640 b\n711 ../a\n711 b\nrefused\n604\n600\nmissing\n',
      stderr: '',
    })
  })

  test('reads what is read-only, and writes none of it', async () => {
    await using kit = open()
    const file = theirs(kit)
    const mounts = [
      { source: kit.workspace, writable: true },
      { source: kit.outside, writable: false },
    ]
    const { stdout } = await kit.shell(
      `cat ${file}; echo x > ${file} || echo refused; echo y > ${file}.new || echo refused`,
      { mounts },
    )
    expect(stdout).toBe(`${canary}refused\nrefused\n`)
  })

  test('makes no socket, and reaches none of the host: with neither filter nor rules it would', async () => {
    await using kit = open()
    await using port = await listening(createServer(), { port: 0, host: '127.0.0.1' })
    const path = join(kit.outside, 'docker.sock')
    await using named = await listening(createServer(), path)
    theirs(kit)
    chmodSync(path, 0o777)
    await openAbstract(`gatehouse-test-${process.pid}`)
    const script = `
      sub ask { my ($what, @how) = @_; my $s; print "$what ", (socket($s, $how[0], 1, 0) && connect($s, $how[1]) ? 'reached' : 'no'), "\\n" }
      ask('port', 2, pack('S n a4 x8', 2, ${port.port}, "\\x7f\\0\\0\\1"));
      ask('path', 1, pack('S a*', 1, "${path}\\0"));
      ask('abstract', 1, pack('S a*', 1, "\\0gatehouse-test-${process.pid}"));
      my $u;
      print 'datagram ', (socket($u, 2, 2, 0) && send($u, 'x', 0, pack('S n a4 x8', 2, 9, "\\x7f\\0\\0\\1")) ? 'sent' : 'no'), "\\n";
      print 'pair ', (socketpair(my $one, my $two, 1, 1, 0) ? 'made' : 'no'), "\\n"`
    const none = 'port no\npath no\nabstract no\ndatagram no\npair made\n'
    expect((await kit.perl(script)).stdout).toBe(none)
    const asked = async (...without: NonNullable<SandboxOptions['without']>) => {
      await using loose = open({ without })
      return (await loose.perl(script)).stdout
    }
    // The rules alone know ports and hidden names; what the filter adds is paths and datagrams.
    expect(await asked('sockets')).toBe(
      'port no\npath reached\nabstract no\ndatagram sent\npair made\n',
    )
    expect(await asked('sockets', 'ports', 'abstract')).toBe(
      'port reached\npath reached\nabstract reached\ndatagram sent\npair made\n',
    )
    expect([port.visits(), named.visits()]).toEqual([1, 2])
  })

  test('sends no signal to its launchers or to another program of the same user, and reads neither', async () => {
    const script = (pid: number) => `
      my $parent = getppid;
      print kill(0, $_) ? 'reached ' : 'no ' for $parent, ${pid};
      for my $pid ($parent, ${pid}) { for my $name (qw(environ cmdline mem maps fd/0)) { print "read $name\\n" if open(my $f, '<', "/proc/$pid/$name") } }
      kill 9, -1;`
    await using kit = open()
    const other = await kit.sandbox.spawn(kit.spec('sleep', ['60']))
    const pids = readFileSync(`/proc/${other.pid}/task/${other.pid}/children`, 'utf8')
    expect((await kit.perl(script(Number(pids)))).stdout).toBe('no no ')
    expect(readdirSync('/proc')).toContain(String(other.pid))
    await other.end(0)
    await using loose = open({ without: ['signals'] })
    const ask = `print kill(0, getppid) ? 'reached' : 'no'`
    expect((await loose.perl(ask)).stdout).toBe('reached')
  })

  test('leaves no set-id file, by no way that the rules leave open', async () => {
    const script = `
      use Fcntl;
      open(my $f, '>', 'a');
      print chmod(04755, $f) ? "changed\\n" : "refused\\n";
      print chmod(0755, $f) ? "honest\\n" : "refused\\n";
      print sysopen(my $made, 'b', O_CREAT | O_WRONLY, 06755) ? "made\\n" : "refused\\n"`
    await using kit = open()
    expect((await kit.perl(script)).stdout).toBe('refused\nhonest\nrefused\n')
    await using loose = open({ without: ['set-id'] })
    expect((await loose.perl(script)).stdout).toBe('changed\nhonest\nmade\n')
    expect(lstatSync(join(loose.workspace, 'b')).uid).not.toBe(0)
  })

  test('is not root, has no rights, and no descriptor but its own three', async () => {
    await using kit = open()
    const child = await kit.sandbox.spawn(
      kit.spec('perl', [
        '-e',
        `$| = 1; my @open = grep { open(my $f, '<&', $_) } 3 .. 200; print "<@open>\\n"; sleep 60`,
      ]),
    )
    let said = ''
    for await (const chunk of child.stdout) {
      said += String(chunk)
      if (said.includes('\n')) break
    }
    expect(said).toBe('<>\n')
    const childrenOf = (pid: string) =>
      readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    const [watcher = ''] = childrenOf(String(child.pid))
    const inner = childrenOf(watcher)
    expect(inner).toHaveLength(2)
    for (const pid of [child.pid, watcher, ...inner]) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      const of = (name: string) => new RegExp(`^${name}:[\\t ]*(.*)$`, 'm').exec(status)?.[1]
      expect(of('Uid')?.split('\t').map(Number)).not.toContain(0)
      expect(of('CapEff')).toMatch(/^0+$/)
      expect(of('CapPrm')).toMatch(/^0+$/)
      expect(of('CapAmb')).toMatch(/^0+$/)
      expect(of('NoNewPrivs')).toBe('1')
      if (process.getuid?.() === 0) expect(of('Groups')?.trim()).toBe('')
    }
    await child.end(0)
  })

  test('has a folder for what is temporary that is its own and goes with it, however it was left', async () => {
    await using kit = open()
    const { stdout } = await kit.shell(
      'echo kept > $TMPDIR/a && cat $HOME/a; mkdir -p $TMPDIR/b/c && echo x > $TMPDIR/b/c/d; mkdir -m 000 $TMPDIR/closed; echo $TMPDIR; echo x > /tmp/x || echo no; ls $TMPDIR/..',
    )
    const [kept, folder, no] = stdout.split('\n')
    expect([kept, no]).toEqual(['kept', 'no'])
    expect(folder).toMatch(/\/sandbox-runs\/run-\w+$/)
    expect(readdirSync(join(kit.dataDir, 'sandbox-runs'))).toEqual([])
    // Remains of a service that was killed are gone when the next one starts.
    mkdirSync(join(kit.dataDir, 'sandbox-runs', 'run-left'))
    await using next = open({ dataDir: kit.dataDir })
    await next.sandbox.probe()
    expect(existsSync(join(kit.dataDir, 'sandbox-runs', 'run-left'))).toBe(false)
  })

  test('is refused what only a view of its own could give', async () => {
    await using kit = open()
    const inner = join(kit.workspace, 'inner')
    mkdirSync(inner)
    const workspace = { source: kit.workspace, writable: true }
    const refused = (mounts: readonly { source: string; writable: boolean; target?: string }[]) =>
      expect(kit.shell('true', { mounts })).rejects.toMatchObject({ type: 'SandboxRefused' })
    await refused([workspace, { source: inner, writable: false }])
    await refused([{ source: kit.workspace, target: '/work', writable: true }])
    for (const source of [kit.dataDir, join(kit.dataDir, '..'), '/'])
      await refused([{ source, writable: false }])
    const network = { kind: 'egress', socket: join(kit.dataDir, 'egress') } as const
    await expect(kit.shell('true', { network })).rejects.toMatchObject({
      type: 'SandboxUnavailable',
      facts: { reason: expect.stringContaining('bubblewrap') },
    })
    expect(readdirSync(join(kit.dataDir, 'sandbox-runs'))).toEqual([])
  })

  test('that only serves a Unix socket is reached by it, and reaches no other', async () => {
    await using kit = open()
    const path = join(kit.outside, 'docker.sock')
    await using named = await listening(createServer(), path)
    theirs(kit)
    chmodSync(path, 0o777)
    const child = await kit.sandbox.spawn(
      kit.spec(
        process.execPath,
        [
          '-e',
          `const net = require('node:net')
           net.connect(${JSON.stringify(path)}).on('error', (error) => {
             net.createServer((socket) => socket.end('served ' + error.code)).listen('own.sock', () => console.log('up'))
           })`,
        ],
        { network: { kind: 'none', unix_only: true }, limits: { memory_bytes: 2 ** 31 } },
      ),
    )
    for await (const chunk of child.stdout) if (String(chunk).includes('up')) break
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = createConnection(join(kit.workspace, 'own.sock'))
      socket.on('error', reject)
      socket.on('data', (data) => resolve(String(data)))
    })
    expect(answer).toBe('served EPERM')
    expect(named.visits()).toBe(0)
    await child.end(0)
  })

  test('that needs no tools gets none: neither a shell, nor /usr/bin', async () => {
    await using kit = open()
    const mounts = [
      { source: kit.workspace, writable: true },
      { source: process.execPath, writable: false },
    ]
    const limits = { memory_bytes: 2 ** 31 }
    const { stdout } = await kit.run(
      process.execPath,
      [
        '-e',
        `const { spawnSync } = require('node:child_process'); const { readdirSync } = require('node:fs')
         const tried = (work) => { try { return work() } catch (error) { return error.code } }
         console.log(spawnSync('/bin/sh', ['-c', 'true']).error?.code, tried(() => readdirSync('/usr/bin')))`,
      ],
      { mounts, limits, system: 'libraries' },
    )
    expect(stdout).toBe('EACCES EACCES\n')
  })

  const launchers = (pid: number) => ({
    guard: pid,
    watcher: Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()),
  })
  const named = (word: string): readonly string[] =>
    readdirSync('/proc').filter((name) => {
      try {
        return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word)
      } catch {
        return false
      }
    })

  test.each(['guard', 'watcher'] as const)(
    'ends with all that it started, daemons included, when the %s is killed',
    async (which) => {
      await using kit = open()
      const word = `${which}-${process.pid}-${Date.now()}`
      const script = `trap "" TERM INT HUP; (setsid nohup sh -c 'sleep 61 # ${word}' >/dev/null 2>&1 &); echo up; sleep 62 # ${word}`
      const child = await kit.sandbox.spawn(kit.spec('sh', ['-c', script]))
      for await (const chunk of child.stdout) if (String(chunk).includes('up')) break
      expect(named(word).length).toBeGreaterThan(0)
      const killed = performance.now()
      process.kill(launchers(child.pid)[which], 'SIGKILL')
      await child.exited
      expect(performance.now() - killed).toBeLessThan(30_000)
      expect(named(word)).toEqual([])
    },
  )

  test('that forks faster than it can be counted is ended whole', async () => {
    await using kit = open()
    const word = `bomb-${process.pid}-${Date.now()}`
    const bomb = `my $word = '${word}'; while (1) { my $child = fork; if (defined $child && !$child) { setpgrp; } }`
    const started = performance.now()
    const result = await kit.perl(bomb, { timeout_ms: 400, limits: { processes: 40 } })
    expect(result).toMatchObject({ timed_out: true })
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(named(word)).toEqual([])
  })

  test('lets what people run in it work: threads, archives, locks, pipes', async () => {
    await using kit = open()
    const { stdout, stderr } = await kit.run(
      process.execPath,
      [
        '-e',
        `const { Worker } = require('node:worker_threads');
         const { execFileSync } = require('node:child_process');
         require('node:fs').writeFileSync('a', 'a');
         execFileSync('tar', ['-cf', 'a.tar', 'a']);
         execFileSync('tar', ['-xf', 'a.tar']);
         const text = execFileSync('sh', ['-c', 'sort < a | cat'], { encoding: 'utf8' });
         new Worker('require("worker_threads").parentPort.postMessage("thread")', { eval: true })
           .on('message', (word) => { console.log(text, word); process.exit() });`,
      ],
      { limits: { memory_bytes: 2 ** 31 } },
    )
    expect({ stdout, stderr }).toEqual({ stdout: 'a\n thread\n', stderr: '' })
  })

  test.runIf(process.getuid?.() === 0)(
    'reaches its folder below those of the service, which others still cannot list or read',
    async () => {
      await using kit = open()
      expect((await kit.shell('pwd; ls ..; cat ../../vault.key')).stdout).toBe(`${kit.workspace}\n`)
      expect(statSync(kit.dataDir).mode & 0o777).toBe(0o710)
      chmodSync(join(kit.dataDir, '..'), 0o700)
      await expect(kit.shell('true')).rejects.toMatchObject({
        type: 'SandboxRefused',
        facts: { detail: expect.stringContaining('may not enter') },
      })
    },
  )
})
