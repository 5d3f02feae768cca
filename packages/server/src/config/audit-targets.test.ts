import { expect, test } from 'vitest'
import { auditTargetsOf } from './audit-targets.ts'

const refuse = (detail: string): never => {
  throw new Error(detail)
}
const read = (...targets: object[]) => auditTargetsOf(targets, refuse)

const s3 = {
  ...{ name: 'bucket', kind: 's3', url: 'https://s3.example.org/', bucket: 'my-audit' },
  ...{ access_key_id: 'AKEY', secret: 'audit_bucket' },
}

test('reads each kind, with what it leaves open', () => {
  expect(
    read(
      { name: 'archive', kind: 'files', folder: 'archive' },
      { name: 'siem', kind: 'syslog', address: 'tls://[2001:db8::1]', ca_file: 'ca.pem' },
      s3,
      { name: 'partner', kind: 'url', url: 'https://witness.example.org/x' },
      { name: 'public', kind: 'git', remote: 'ssh://git@git.example.org/w.git' },
    ),
  ).toEqual([
    { name: 'archive', kind: 'files', folder: 'archive' },
    {
      ...{ name: 'siem', kind: 'syslog', host: '2001:db8::1', port: 6514 },
      caFile: 'ca.pem',
      client: null,
    },
    {
      ...{
        name: 'bucket',
        kind: 's3',
        url: 'https://s3.example.org',
        bucket: 'my-audit',
        prefix: '',
      },
      ...{ region: 'us-east-1', accessKeyId: 'AKEY', secret: 'audit_bucket' },
    },
    { name: 'partner', kind: 'url', url: 'https://witness.example.org/x', secret: null },
    { name: 'public', kind: 'git', remote: 'ssh://git@git.example.org/w.git', branch: 'main' },
  ])
})

test.each([
  [{ name: 'a', kind: 'ftp' }, 'kind must be one of files, syslog, s3, url, git'],
  [{ name: 'A', kind: 'files', folder: 'x' }, 'name must be'],
  [{ name: 'a', kind: 'files', folder: 'x', bucket: 'y' }, 'has no key bucket'],
  [{ name: 'a', kind: 'syslog', address: 'udp://logs:514' }, 'address must be'],
  [{ name: 'a', kind: 'syslog', address: 'tls://logs', key_file: 'k' }, 'stand together'],
  [{ ...s3, url: 'http://s3.example.org' }, 'url must begin with https://'],
  [{ ...s3, url: 'https://me:pw@s3.example.org' }, 'must not hold a name'],
  [{ ...s3, prefix: '../x/' }, 'prefix must be'],
  [{ ...s3, secret: undefined }, 'secret must be'],
  [{ name: 'a', kind: 'git', remote: 'ext::sh -c id' }, 'remote must be'],
  [{ name: 'a', kind: 'git', remote: 'ssh://-oProxyCommand=id' }, 'remote must be'],
  [{ name: 'a', kind: 'git', remote: '/srv/w.git', branch: '--force' }, 'branch must be'],
])('refuses %j by what is wrong with it', (target, said) => {
  expect(() => read(target)).toThrow(said)
})

test('refuses a name that two targets have', () => {
  const one = { name: 'a', kind: 'files', folder: 'x' }
  expect(() => read(one, one)).toThrow('names a twice')
})
