import { namedListOf } from './named-list.ts'

/** A place outside of the data directory that the audit log is carried to, as it stands in the settings. */
export type AuditTargetSettings = { readonly name: string } & (
  | { readonly kind: 'files'; readonly folder: string }
  | {
      readonly kind: 'syslog'
      readonly host: string
      readonly port: number
      /** PEM of the authority of the receiver; null for those that this machine trusts. */
      readonly caFile: string | null
      /** Certificate and key that the receiver asks for; null where it asks for none. */
      readonly client: { readonly certFile: string; readonly keyFile: string } | null
    }
  | {
      readonly kind: 's3'
      readonly url: string
      readonly bucket: string
      readonly prefix: string
      readonly region: string
      readonly accessKeyId: string
      /** The name of the secret access key in the vault. */
      readonly secret: string
    }
  | { readonly kind: 'url'; readonly url: string; readonly secret: string | null }
  | { readonly kind: 'git'; readonly remote: string; readonly branch: string }
)

type Refuse = (detail: string) => never
type Given = Readonly<Record<string, unknown>>
type Kind = AuditTargetSettings['kind']

const targetsMax = 10

const keysOf: Readonly<Record<Kind, readonly string[]>> = {
  files: ['folder'],
  syslog: ['address', 'ca_file', 'cert_file', 'key_file'],
  s3: ['url', 'bucket', 'prefix', 'region', 'access_key_id', 'secret'],
  url: ['url', 'secret'],
  git: ['remote', 'branch'],
}
const kinds = Object.keys(keysOf) as readonly Kind[]

const textOf = (given: Given, key: string, form: RegExp, refuse: Refuse, say: string): string => {
  const value = given[key]
  return typeof value === 'string' && form.test(value) ? value : refuse(`${key} must be ${say}`)
}

const fileOf = (given: Given, key: string, refuse: Refuse): string | null => {
  const value = given[key] ?? null
  if (value !== null && (typeof value !== 'string' || value === ''))
    return refuse(`${key} must be the name of a file`)
  return value
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

const urlOf = (given: Given, refuse: Refuse): string => {
  let url: URL
  try {
    url = new URL(String(given['url']))
  } catch {
    return refuse('url must be an address such as https://logs.example.org')
  }
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback.test(url.hostname)))
    return refuse('url must begin with https://; http:// is for this machine alone')
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    return refuse('url must not hold a name, a password or a fragment')
  return url.href
}

const secretOf = (given: Given, refuse: Refuse): string =>
  textOf(
    given,
    'secret',
    /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/,
    refuse,
    'the name of a secret of the vault',
  )

const syslogOf = (given: Given, refuse: Refuse) => {
  const say = 'the receiver as tls://host:6514'
  const address = textOf(given, 'address', /^tls:\/\/[^/\s]+$/, refuse, say)
  const { hostname, port } = new URL(address.replace(/^tls:/, 'https:'))
  const [certFile, keyFile] = [
    fileOf(given, 'cert_file', refuse),
    fileOf(given, 'key_file', refuse),
  ]
  if ((certFile === null) !== (keyFile === null))
    return refuse('cert_file and key_file stand together')
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 6514 : Number(port),
    caFile: fileOf(given, 'ca_file', refuse),
    client: certFile !== null && keyFile !== null ? { certFile, keyFile } : null,
  }
}

const s3Of = (given: Given, refuse: Refuse) => ({
  url: urlOf(given, refuse).replace(/\/$/, ''),
  bucket: textOf(given, 'bucket', /^[a-z0-9][a-z0-9.-]{1,62}$/, refuse, 'the name of a bucket'),
  prefix: textOf(
    { prefix: '', ...given },
    'prefix',
    /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*$/,
    refuse,
    'folders that end with /, such as gatehouse/audit/',
  ),
  region: textOf(
    { region: 'us-east-1', ...given },
    'region',
    /^[a-z0-9-]{1,40}$/,
    refuse,
    'a region',
  ),
  accessKeyId: textOf(given, 'access_key_id', /^[\w-]{3,128}$/, refuse, 'the id of an access key'),
  secret: secretOf(given, refuse),
})

const gitOf = (given: Given, refuse: Refuse) => ({
  remote: textOf(
    given,
    'remote',
    /^(?:https:\/\/[^\s@]+|ssh:\/\/[^\s-][^\s]*|\/[^\s]+)$/,
    refuse,
    'a repository as https://…, ssh://… or an absolute path',
  ),
  branch: textOf(
    { branch: 'main', ...given },
    'branch',
    /^[A-Za-z0-9](?:[A-Za-z0-9_/-]|\.(?!\.|$|lock$)){0,99}$/,
    refuse,
    'the name of a branch',
  ),
})

const targetOf = (raw: unknown, refuse: Refuse): AuditTargetSettings => {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return refuse('must be a map with name and kind')
  const given = raw as Given
  const name = textOf(
    given,
    'name',
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    refuse,
    'up to 64 of a-z, 0-9, - and _',
  )
  const kind = kinds.find((one) => one === given['kind'])
  if (!kind) return refuse(`kind must be one of ${kinds.join(', ')}`)
  const known = ['name', 'kind', ...keysOf[kind]]
  const stranger = Object.keys(given).find((key) => !known.includes(key))
  if (stranger !== undefined) return refuse(`has no key ${stranger}; it knows ${known.join(', ')}`)
  switch (kind) {
    case 'files':
      return { name, kind, folder: textOf(given, 'folder', /^./, refuse, 'the name of a folder') }
    case 'syslog':
      return { name, kind, ...syslogOf(given, refuse) }
    case 's3':
      return { name, kind, ...s3Of(given, refuse) }
    case 'url':
      return {
        ...{ name, kind, url: urlOf(given, refuse) },
        secret: given['secret'] === undefined ? null : secretOf(given, refuse),
      }
    case 'git':
      return { name, kind, ...gitOf(given, refuse) }
  }
}

/** Every place, or a refusal that names the field. */
export const auditTargetsOf = (raw: unknown, refuse: Refuse): readonly AuditTargetSettings[] =>
  namedListOf(raw, targetsMax, targetOf, refuse)
