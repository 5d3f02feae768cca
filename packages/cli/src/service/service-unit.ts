export type UnitOptions = {
  /** `system`: for the machine, under a user of its own; `user`: for the person who is logged in. */
  readonly scope: 'system' | 'user'
  /** Node, and the program's file. */
  readonly command: readonly [node: string, file: string]
  /** Null: the place that systemd makes for the service, or the usual one of the user. */
  readonly dataDir: string | null
  /** A file with the passphrase of the vault, which only root can read; null for a key file in the data directory. */
  readonly passphraseFile: string | null
}

/** One word of a command line in a unit: quoted, and nothing in it is a specifier or a variable. */
const unitWord = (word: string): string => {
  const plain = word.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w@%+=:,./$-]+$/.test(plain)
    ? plain
    : `"${plain.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/**
 * Restrictions of the service itself. The sandbox for programs needs new namespaces, mounts in them and a /proc that
 * nothing is mounted over, so those stay open: RestrictNamespaces, ProtectProc, ProtectKernelTunables,
 * ProtectKernelLogs, ProtectHostname and a filter without @mount are left out. Node compiles code while it
 * runs, so memory may become executable.
 */
const everywhere = [
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service @mount @pkey sethostname',
  // Landlock, seccomp filters of programs, and what the seccomp supervisor takes from them.
  'SystemCallFilter=seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self pidfd_open pidfd_getfd',
  'SystemCallErrorNumber=EPERM',
  'UMask=0077',
]

const systemOnly = [
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectKernelModules=yes',
  'RemoveIPC=yes',
  'KeyringMode=private',
]

/** Text of the unit that keeps the service running. */
export function serviceUnit({ scope, command, dataDir, passphraseFile }: UnitOptions): string {
  const isSystem = scope === 'system'
  const data = dataDir ?? (isSystem ? '/var/lib/gatehouse' : null)
  const words = [...command, 'serve', ...(data === null ? [] : ['--data-dir', data])]
  const own = isSystem && dataDir === null
  return `${[
    '[Unit]',
    'Description=Gatehouse, the gate between AI agents and what they can touch',
    'Documentation=man:gatehouse(1) man:gatehouse.yaml(5)',
    ...(isSystem ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${words.map(unitWord).join(' ')}`,
    'Restart=on-failure',
    'RestartSec=2',
    // The service stops within 10 s by itself.
    'TimeoutStopSec=20',
    'LimitNOFILE=65536',
    ...(isSystem ? ['DynamicUser=yes', 'User=gatehouse'] : []),
    ...(own ? ['StateDirectory=gatehouse', 'StateDirectoryMode=0700'] : []),
    ...(isSystem && dataDir !== null ? [`ReadWritePaths=${unitWord(dataDir)}`] : []),
    ...(passphraseFile === null
      ? []
      : [
          `LoadCredential=vault-passphrase:${unitWord(passphraseFile)}`,
          'Environment=GATEHOUSE_VAULT_PASSPHRASE_FILE=%d/vault-passphrase',
        ]),
    '',
    ...everywhere,
    ...(isSystem ? systemOnly : []),
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
  ].join('\n')}\n`
}
