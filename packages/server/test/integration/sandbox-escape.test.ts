import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { SandboxKit } from './sandbox-kit.ts'

const canary = 'CANARY-FS-5b1c'

/** Listener on the host that counts who comes. */
const listen = async () => {
  let visits = 0
  const server = createServer((socket) => {
    visits += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    visits: () => visits,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const connectTo = (port: number) => `
  socket(my $s, 2, 1, 0) or die;
  print connect($s, pack('S n a4 x8', 2, ${port}, "\\x7f\\0\\0\\1")) ? "reached\\n" : "not reached\\n";
`

describe.skipIf(!hasProgram('bwrap'))('from inside the sandbox', () => {
  test('only what is mounted is there: neither the data, nor other workspaces, nor the host', async () => {
    await using kit = new SandboxKit()
    const sibling = join(kit.dataDir, 'workspaces', 'other')
    mkdirSync(sibling)
    const places = [join(kit.dataDir, 'vault.key'), join(sibling, 'a'), join(kit.outside, 'a')]
    for (const place of places) writeFileSync(place, canary, { mode: 0o644 })
    writeFileSync(join(kit.workspace, 'mine'), 'mine')
    symlinkSync(places[0] as string, join(kit.workspace, 'link'))
    const { stdout } = await kit.shell(
      `cat mine; cat link ${places.join(' ')}; ls ${kit.dataDir} ${kit.dataDir}/workspaces;
       ls /home /root /var /run /sys /srv /boot /mnt /opt; env; cat /etc/passwd`,
    )
    expect(stdout).toMatch(/^mine/)
    expect(stdout).not.toContain(canary)
    expect(stdout).toContain(`${kit.dataDir}/workspaces:\nmailbot\n`)
    expect(stdout).not.toContain('other')
    expect(stdout.match(/^\w+:x:/gm)).toEqual(['nobody:x:'])
  })

  test('no port of the host is reached; with its network shared it would be', async () => {
    await using host = await listen()
    await using kit = new SandboxKit()
    expect((await kit.perl(connectTo(host.port))).stdout).toBe('not reached\n')
    expect(host.visits()).toBe(0)
    await using open = new SandboxKit({ without: ['network'] })
    expect((await open.perl(connectTo(host.port))).stdout).toBe('reached\n')
  })

  test('no process of the host is seen or reached, and none of our descriptors is open', async () => {
    await using kit = new SandboxKit()
    const { stdout } = await kit.perl(`
      opendir(my $proc, '/proc'); print join(',', sort grep { /^\\d+$/ } readdir $proc), "\\n"; closedir $proc;
      opendir(my $own, '/proc/self/fd'); print join(',', sort grep { /^\\d+$/ && $_ != fileno $own } readdir $own), "\\n";
      print -e '/proc/${process.pid}/environ' ? "seen\\n" : "not seen\\n";
      print kill(9, ${process.pid}) ? "killed\\n" : "not killed\\n";
      open(my $one, '<', '/proc/1/environ') and print "environment of the launcher: ", <$one>;
    `)
    expect(stdout).toBe('1,2\n0,1,2\nnot seen\nnot killed\n')
  })

  test('it never runs as root, and what it makes is not of root', async () => {
    await using kit = new SandboxKit()
    const script = 'echo made > made; echo up; cat'
    const child = await kit.sandbox.spawn(kit.spec('/bin/sh', ['-c', script]))
    for await (const chunk of child.stdout) if (String.fromCharCode(...chunk).includes('up')) break
    const uids = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
    expect(uids?.split('\t').map(Number)).not.toContain(0)
    child.stdin.end()
    await child.exited
    expect(lstatSync(join(kit.workspace, 'made')).uid).not.toBe(0)
    expect(readFileSync(join(kit.workspace, 'made'), 'utf8')).toBe('made\n')
  })

  const setId = `
    use Fcntl;
    sub tell_it { print "$_[0]: ", ($_[1] ? 'done' : 'refused ' . ($! + 0)), "\\n" }
    open(my $f, '>', 'a'); close $f;
    tell_it('chmod', chmod(04755, 'a'));
    tell_it('chmod of the group', chmod(02755, 'a'));
    tell_it('open', sysopen(my $made, 'b', O_CREAT | O_WRONLY, 06755));
    tell_it('honest chmod', chmod(0755, 'a'));
    tell_it('honest open', sysopen(my $plain, 'c', O_CREAT | O_WRONLY, 0600));
    tell_it('mknod', syscall(133, 'd' . "", 0104755, 0) == 0) if $ARGV[0] eq 'x64';
    tell_it('creat', syscall(85, 'e' . "", 04755) >= 0) if $ARGV[0] eq 'x64';
    tell_it('fchmodat2', syscall(452, -100, 'a' . "", 04755, 0) == 0);
    tell_it('openat2', syscall(437, -100, 'f' . "", pack('QQQ', 0101, 04755, 0), 24) >= 0);
  `
  const modesOf = (folder: string) =>
    readdirSync(folder).map((name) => lstatSync(join(folder, name)).mode & 0o6000)

  test('no way leaves a set-id file on the host; without the filter several do, of nobody’s rights', async () => {
    await using kit = new SandboxKit()
    const arch = ['-', process.arch]
    const { stdout } = await kit.run('/usr/bin/perl', arch, { stdin: setId })
    expect(stdout).toContain('honest chmod: done\nhonest open: done\n')
    expect(stdout.split('\n').filter((line) => /^(?!honest).*: done/.test(line))).toEqual([])
    expect(modesOf(kit.workspace)).toSatisfy((modes: number[]) => modes.every((m) => m === 0))
    await using open = new SandboxKit({ without: ['set-id'] })
    expect((await open.run('/usr/bin/perl', arch, { stdin: setId })).stdout).toContain(
      'chmod: done',
    )
    expect(modesOf(open.workspace).some((mode) => mode !== 0)).toBe(true)
    // The other half of the lock: even then it is no file of root.
    for (const name of readdirSync(open.workspace))
      expect(lstatSync(join(open.workspace, name)).uid).not.toBe(0)
  })

  test('its root, its devices and the system cannot be written; its temporary folders are small', async () => {
    const fill = `
      for file in /tmp/fill /dev/shm/fill; do
        head -c 12000000 /dev/zero > $file && echo $file full || echo $file stopped
      done
      for folder in / /dev /etc /usr /usr/bin; do touch $folder/probe && echo $folder written; done
    `
    await using kit = new SandboxKit()
    expect((await kit.shell(fill)).stdout).toBe('/tmp/fill stopped\n/dev/shm/fill stopped\n')
    await using open = new SandboxKit({ without: ['read-only', 'temporary size'] })
    expect((await open.shell(fill)).stdout).toBe(
      '/tmp/fill full\n/dev/shm/fill full\n/ written\n/dev written\n',
    )
  })

  test('a mount is read-only where it was given so', async () => {
    await using kit = new SandboxKit()
    writeFileSync(join(kit.outside, 'given'), 'given', { mode: 0o644 })
    const mounts = [
      { source: kit.workspace, writable: true },
      { source: join(kit.outside, 'given'), target: '/given', writable: false },
    ]
    const { stdout } = await kit.shell('cat /given; echo new > /given || echo refused', { mounts })
    expect(stdout).toBe('givenrefused\n')
  })

  test('a program that needs no tools gets none: neither a shell, nor /usr', async () => {
    await using kit = new SandboxKit()
    const look = `print join ',', grep { -e } qw(/bin/sh /usr/bin/sh /usr/bin/env /usr/share /sbin /usr/lib)`
    expect((await kit.perl(look)).stdout).toContain('/bin/sh,/usr/bin/sh')
    expect((await kit.perl(look, { system: 'libraries' })).stdout).toBe('/usr/lib')
    await expect(kit.shell('true', { system: 'libraries' })).rejects.toMatchObject({
      type: 'ProgramNotFound',
    })
    const mounts = [
      { source: kit.workspace, writable: true },
      { source: process.execPath, target: '/engine/node', writable: false },
    ]
    const { stdout } = await kit.run('/engine/node', ['-p', '6 * 7'], {
      system: 'libraries',
      mounts,
      limits: { memory_bytes: 2 ** 31 },
    })
    expect(stdout).toBe('42\n')
  })

  test('nothing shows the folder of the service whole, whoever asks for it', async () => {
    await using kit = new SandboxKit()
    for (const source of [kit.dataDir, join(kit.dataDir, '..'), '/'])
      await expect(
        kit.shell('true', { mounts: [{ source, target: '/all', writable: false }] }),
      ).rejects.toMatchObject({ type: 'SandboxRefused' })
    await expect(
      kit.shell('true', { mounts: [{ source: kit.outside, target: '/etc/x', writable: false }] }),
    ).rejects.toMatchObject({ type: 'SandboxRefused' })
  })
})
