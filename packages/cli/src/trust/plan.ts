/** Plan: commands to run, and steps that only the person can take. */
export type TrustPlan = {
  /** Each a program and its arguments, in order. Empty where this system is not known. */
  readonly commands: readonly (readonly string[])[]
  /** Whether this process may run them. */
  readonly mayRun: boolean
  readonly notes: readonly string[]
}

export type TrustInput = {
  readonly platform: string
  readonly isRoot: boolean
  readonly home: string
  readonly caFile: string
  /** As `sha256` shows it: hex with colons. */
  readonly fingerprint: string
  readonly remove: boolean
  /** Folders that systems keep authorities in, as far as they are there. */
  readonly exists: (path: string) => boolean
}

const linuxStores = [
  {
    folder: '/usr/local/share/ca-certificates',
    extension: 'crt',
    update: ['update-ca-certificates'],
  },
  { folder: '/etc/pki/ca-trust/source/anchors', extension: 'pem', update: ['update-ca-trust'] },
  {
    folder: '/etc/ca-certificates/trust-source/anchors',
    extension: 'pem',
    update: ['update-ca-trust'],
  },
] as const

const forLinux = (input: TrustInput, label: string): TrustPlan => {
  const store = linuxStores.find(({ folder }) => input.exists(folder))
  const nss = input.remove
    ? `certutil -d sql:$HOME/.pki/nssdb -D -n ${label}`
    : `certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n ${label} -i ${input.caFile}`
  const notes = [
    `Chromium and Chrome keep their own list: ${nss}`,
    'Firefox too: Settings, Privacy & Security, Certificates, View Certificates, Authorities.',
  ]
  if (!store) return { commands: [], mayRun: false, notes }
  const target = `${store.folder}/${label}.${store.extension}`
  const change = input.remove
    ? ['rm', '-f', target]
    : ['install', '-m', '0644', input.caFile, target]
  return { commands: [change, [...store.update]], mayRun: input.isRoot, notes }
}

const forMac = (input: TrustInput): TrustPlan => {
  const keychain = `${input.home}/Library/Keychains/login.keychain-db`
  const command = input.remove
    ? [
        'security',
        'delete-certificate',
        '-Z',
        input.fingerprint.replaceAll(':', ''),
        '-t',
        keychain,
      ]
    : ['security', 'add-trusted-cert', '-r', 'trustRoot', '-p', 'ssl', '-k', keychain, input.caFile]
  return {
    commands: [command],
    mayRun: true,
    notes: ['Firefox asks the keychain when security.enterprise_roots.enabled is true.'],
  }
}

/** How this machine comes to trust the authority, or no longer. */
export function planTrust(input: TrustInput): TrustPlan {
  const label = `gatehouse-${input.fingerprint.replaceAll(':', '').slice(0, 12).toLowerCase()}`
  if (input.platform === 'linux') return forLinux(input, label)
  if (input.platform === 'darwin') return forMac(input)
  const windows = input.remove
    ? `certutil -user -delstore Root ${input.fingerprint.replaceAll(':', '').toLowerCase()}`
    : `certutil -user -addstore Root ${input.caFile}`
  const note = input.platform === 'win32' ? `Run: ${windows}` : `Import ${input.caFile} by hand.`
  return { commands: [], mayRun: false, notes: [note] }
}

/** A command as a person would type it. */
export const typed = (command: readonly string[]): string =>
  command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')
