import type { Kit } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { namesFrom, openCanary, outboundWith } from '../../src/outbound/testing.ts'
import { dataOf, openProcessKit } from './process-kit.ts'

/** Asks the proxy that it was told of for a tunnel to each address, and says what it answered. */
const tunnels = `use IO::Socket::INET;
for my $to (@ARGV) {
  my ($proxy) = ($ENV{HTTPS_PROXY} // '') =~ m{http://([^/]+)};
  my $s = $proxy && IO::Socket::INET->new(PeerAddr => $proxy, Timeout => 5);
  if (!$s) { print "none\\n"; next }
  print $s "CONNECT $to HTTP/1.1\\r\\nHost: $to\\r\\n\\r\\n";
  my ($status) = <$s> =~ m{^HTTP/1.1 (\\d+)};
  print "$status\\n";
}`

const policy = (hosts: string) => `version: 1
rules:
  - { match: process.run, tier: autonomous, network: [${hosts}] }
`

describe.skipIf(!hasProgram('bwrap'))('the network of a program', () => {
  const reach = async (kit: Kit, ...addresses: string[]) =>
    dataOf(
      await kit.invoke('alpha', 'process.run', {
        command: 'perl',
        args: ['-e', tunnels, ...addresses],
      }),
    )
      .stdout.trim()
      .split('\n')

  test('is what policy names, under the guard of the service, and the log has what it asked for besides', async () => {
    await using server = await openCanary('127.0.0.1')
    const { port } = server
    const outbound = outboundWith(
      { privateTargets: [`127.0.0.1:${port}`] },
      {
        resolve: namesFrom({
          'a.example': ['127.0.0.1'],
          'b.example': ['127.0.0.1'],
          'inside.example': ['10.0.0.1'],
        }),
      },
    )
    const hosts = `"a.example:${port}", "inside.example:443"`
    await using kit = await openProcessKit(policy(hosts), { outbound })
    const [named, other, elsewhere, inside] = await reach(
      kit,
      `a.example:${port}`,
      `b.example:${port}`,
      'a.example:1',
      'inside.example:443',
    )
    expect(named).toBe('200')
    expect([other, elsewhere, inside]).not.toContain('200')
    const [entry] = await kit.audit({ agent: 'alpha', capability: 'process.run' })
    expect(entry?.detail?.['refused_hosts']).toEqual([`b.example:${port}`, 'a.example:1'])
  })

  test('is none where policy names nothing', async () => {
    await using kit = await openProcessKit()
    expect(await reach(kit, 'a.example:443')).toEqual(['none'])
    const { stdout } = dataOf(
      await kit.invoke('alpha', 'process.run', { command: 'cat', args: ['/proc/net/dev'] }),
    )
    expect(stdout.match(/^\s*\w+:/gm)?.map((name) => name.trim())).toEqual(['lo:'])
  })
})
