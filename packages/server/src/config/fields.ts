import type { Field } from './field.ts'

const port = <const K extends string>(key: K, number: number, description: string) =>
  ({
    key,
    type: 'integer',
    default: number,
    min: 0,
    max: 65_535,
    description: `${description} 0 takes any free port.`,
  }) as const satisfies Field

export const fields = [
  {
    key: 'data_dir',
    type: 'string',
    default: null,
    description:
      'Where everything is kept. Default: $XDG_DATA_HOME/gatehouse or ~/.local/share/gatehouse.',
  },
  {
    key: 'config',
    type: 'string',
    default: null,
    description: 'The configuration file. Default: gatehouse.yaml in the data directory.',
  },
  {
    key: 'host',
    type: 'string',
    default: '127.0.0.1',
    description: 'Address that the gateway listens on.',
  },
  port('gateway_port', 7700, 'Port for agents: MCP at /mcp, JSON-RPC at /rpc.'),
  port('wake_port', 7702, 'UDP port for wakes, on 127.0.0.1 only.'),
  port('user_api_port', 7703, 'Port of the User API, on the loopback address only.'),
  {
    key: 'dashboard_host',
    type: 'string',
    default: '127.0.0.1',
    description: 'Address that the dashboard listens on.',
  },
  port('dashboard_port', 7800, 'Port of the dashboard and its REST API, over HTTPS.'),
  {
    key: 'tls.cert',
    type: 'string',
    default: null,
    description:
      'Certificate of the dashboard as PEM, with tls.key; read again when it changes. Default: one by a local authority.',
  },
  {
    key: 'tls.key',
    type: 'string',
    default: null,
    description: 'Private key of tls.cert as PEM.',
  },
  {
    key: 'database_url',
    type: 'string',
    secret: true,
    default: null,
    description:
      'postgres://… when one machine is outgrown. Default: SQLite in the data directory.',
  },
  {
    key: 'database_direct_url',
    type: 'string',
    secret: true,
    default: null,
    description:
      'The same database past a pooler in transaction mode (PgBouncer), where database_url leads to one.',
  },
  {
    key: 'node_url',
    type: 'string',
    default: null,
    description:
      'Where other nodes on the same database reach the gateway of this one, such as http://10.0.0.5:7700. Default: the address that it listens on.',
  },
  {
    key: 'workers',
    type: 'integer',
    default: 1,
    min: 1,
    max: 64,
    description:
      'Processes that serve agents, each on a processor of its own and with a log of its own; an agent is served by one of them. One is enough for thousands of calls a second.',
  },
  {
    key: 'first_agent',
    type: 'boolean',
    default: true,
    negated: "Don't create the agent first-agent at the first start.",
    description: 'Create the agent first-agent at the first start and print its token once.',
  },
  {
    key: 'server.public_url',
    type: 'string',
    default: null,
    description:
      'Address under which people and agents elsewhere reach the service, such as https://gate.example.org: that of a proxy in front of it. Links in notifications lead there, and requests may be addressed to it.',
  },
  {
    key: 'server.trusted_proxies',
    type: 'list',
    default: [],
    description:
      'Addresses and networks of proxies whose X-Forwarded-For names the client, such as 127.0.0.1. None by default: clients are known by the address of their connection.',
  },
  {
    key: 'server.allowed_hosts',
    type: 'list',
    default: [],
    description:
      'Further names that requests may be addressed to, beside loopback names and this machine’s own.',
  },
  {
    key: 'server.allowed_origins',
    type: 'list',
    default: [],
    description: 'Web origins that may reach the gateway from a browser. None by default.',
  },
  {
    key: 'server.body_bytes_max',
    type: 'integer',
    default: 10 * 1024 * 1024,
    min: 1024,
    max: 64 * 1024 * 1024,
    description: 'The largest request body or WebSocket message, in bytes.',
  },
  {
    key: 'server.json_depth_max',
    type: 'integer',
    default: 64,
    min: 8,
    max: 256,
    description: 'How deep JSON may be nested.',
  },
  {
    key: 'approvals.ttl',
    type: 'duration',
    default: '24h',
    min: 1_000,
    max: 30 * 86_400_000,
    description: 'How long a request waits for a person before it expires.',
  },
  {
    key: 'approvals.hold',
    type: 'duration',
    default: '10m',
    min: 1_000,
    max: 86_400_000,
    description:
      'How long a call stays open for a decision, for agents created with --approvals hold. Then the answer is that it is pending. Questions of upstream servers wait as long.',
  },
  {
    key: 'audit.checkpoint_copy',
    type: 'string',
    default: null,
    description:
      'A second file for the signed checkpoints of the audit log, on another disk or machine. At each start the log is compared with it, so that a data directory that was put back to an older state is found.',
  },
  {
    key: 'audit.targets',
    type: 'audit targets',
    default: [],
    description:
      'Where the audit log is carried to: a list of name and kind, which is files, syslog or s3 for entries, url or git for checkpoints alone, with what each needs.',
  },
  {
    key: 'audit.retention.max_age',
    type: 'duration',
    default: null,
    min: 86_400_000,
    max: 36_500 * 86_400_000,
    description:
      'How long entries stay in the audit log, such as 400d. Older segments of it are removed, once every target of audit.targets has them; the rest still verifies. Without a target they are gone. Default: for ever.',
  },
  {
    key: 'audit.retention.max_bytes',
    type: 'integer',
    default: null,
    min: 1_048_576,
    max: Number.MAX_SAFE_INTEGER,
    description:
      'How large the audit log of this node may become before its oldest segments are removed, in the same way; the log of each of its gate processes gets an equal part. Default: without a limit.',
  },
  {
    key: 'audit.durable',
    type: 'choice',
    choices: ['database', 'local'],
    default: 'database',
    description:
      "When a call is answered with PostgreSQL: once its entries are copied to the database, or as soon as they are on this node's disk. With local, other nodes see entries a moment later, and a disk that is lost takes along those that were not copied yet.",
  },
  {
    key: 'alerts.disk_percent',
    type: 'integer',
    default: 90,
    min: 1,
    max: 100,
    description: 'How full the disk of the data directory may be before operators are warned.',
  },
  {
    key: 'alerts.approval_wait',
    type: 'duration',
    default: '1h',
    min: 1_000,
    max: 30 * 86_400_000,
    description: 'How long a request may wait for a decision before operators are warned.',
  },
  {
    key: 'vault.passphrase_file',
    type: 'string',
    default: null,
    description:
      'A file with the passphrase of the vault, which unlocks it at each start, such as a credential of systemd. Without it somebody unlocks the vault by hand, where it has a passphrase.',
  },
  {
    key: 'proxy.delays',
    type: 'list',
    default: [],
    description:
      'How long writes are held before they run, as operation=duration, such as mail.send=60s. Others are held as their adapter says.',
  },
  {
    key: 'proxy.burst_limit',
    type: 'integer',
    default: 20,
    min: 1,
    max: 1_000_000,
    description:
      'How many writes an agent may buffer within proxy.burst_window; what goes beyond needs approval.',
  },
  {
    key: 'proxy.burst_window',
    type: 'duration',
    default: '1m',
    min: 1_000,
    max: 86_400_000,
    description: 'The time in which proxy.burst_limit is counted.',
  },
  {
    key: 'proxy.rollback_kept',
    type: 'duration',
    default: '72h',
    min: 60_000,
    max: 30 * 86_400_000,
    description: 'How long a write can be undone after it ran, and what stood before it is kept.',
  },
  {
    key: 'proxy.sync_every',
    type: 'duration',
    default: null,
    min: 5_000,
    max: 86_400_000,
    description: 'How often services are read. Default: as the adapter of each says.',
  },
  {
    key: 'sandbox.mode',
    type: 'choice',
    default: 'auto',
    choices: ['auto', 'bubblewrap', 'landlock', 'unconfined'],
    description:
      'auto: programs run in the strongest sandbox that holds on this machine, or not at all. bubblewrap, landlock: in this one or not at all. unconfined: with the rights of the service itself, which every entry of the log then says.',
  },
  {
    key: 'sandbox.user',
    type: 'string',
    default: null,
    description:
      'User that runs programs where the service itself is root: a user name or id. Default: the user gatehouse where there is one, else an id that no account has.',
  },
  {
    key: 'on_wake',
    type: 'commands',
    default: {},
    description:
      'Programs to start when an agent is woken: a map of agent names to a program and its arguments, run without a shell and with the rights of the service itself.',
  },
  {
    key: 'notifications',
    type: 'targets',
    secret: true,
    default: [],
    description:
      'Notification targets: a list of name, kind (webhook, ntfy or slack), url, secret_file and events.',
  },
  {
    key: 'catalog.url',
    type: 'string',
    default: null,
    description:
      'Where the catalog of local models is published, https only. Without it the built-in models alone are offered.',
  },
  {
    key: 'catalog.refresh',
    type: 'duration',
    default: '24h',
    min: 60_000,
    max: 30 * 86_400_000,
    description: 'How often the catalog is fetched again.',
  },
  {
    key: 'models.mirrors',
    type: 'list',
    default: [],
    description:
      'Where files of models are fetched instead, as host=https://mirror.example/path. The hash of each file is pinned, so a mirror need not be trusted.',
  },
  {
    key: 'engine.idle',
    type: 'duration',
    default: '10m',
    min: 1_000,
    max: 7 * 86_400_000,
    description: 'How long a loaded model may be without work before its memory is freed.',
  },
  {
    key: 'engine.threads',
    type: 'integer',
    default: 0,
    min: 0,
    max: 256,
    description:
      'Processor cores that a model computes with. 0: all but one. More than are free make it far slower.',
  },
  {
    key: 'upstream.idle',
    type: 'duration',
    default: '10m',
    min: 1_000,
    max: 7 * 86_400_000,
    description:
      'How long a connection to an upstream MCP server, and its process, may be without a call before it is ended.',
  },
  {
    key: 'upstream.client_metadata_url',
    type: 'string',
    default: null,
    description:
      'Where a description of Gatehouse as an OAuth client is published (client id metadata document), https only. Authorization servers that read such descriptions then need no registration.',
  },
  {
    key: 'files.deny_hardlinks',
    type: 'boolean',
    default: false,
    description:
      'Refuse to read, change, copy or move files that have more than one hard link: the other name may lie outside of the folders of the agent.',
  },
  {
    key: 'mcp.tools_max',
    type: 'integer',
    default: 150,
    min: 0,
    max: 2_000,
    description:
      'Most tools that an agent is listed over MCP. One that may use more is offered tools.search, tools.describe and tools.call beside a few.',
  },
  {
    key: 'git.config_allowed',
    type: 'list',
    default: [],
    description:
      'Keys that the configuration of a repository may set beside the harmless ones, such as branch.*.rebase. None may name a program.',
  },
  {
    key: 'outbound.private_targets',
    type: 'list',
    default: [],
    description:
      'Addresses inside of your network that agents may reach, each with its port, such as 10.0.0.5:8080. None by default: each one weakens the guard that keeps agents out.',
  },
  {
    key: 'outbound.ports',
    type: 'list',
    default: [],
    description: 'Ports of hosts on the internet that agents may reach, beside 80 and 443.',
  },
  {
    key: 'outbound.ca_file',
    type: 'string',
    default: null,
    description:
      'Certificates of authorities, as PEM, that connections outward trust beside the usual ones.',
  },
  {
    key: 'outbound.proxy',
    type: 'string',
    default: null,
    description:
      'A proxy for every connection outward, such as http://proxy.example:3128; environment takes HTTPS_PROXY and NO_PROXY. Without this setting those variables are ignored.',
  },
  {
    key: 'outbound.proxy_auth_file',
    type: 'string',
    default: null,
    description: 'A file with name:password for the proxy, readable by the service alone.',
  },
  {
    key: 'outbound.no_proxy',
    type: 'list',
    default: [],
    description: 'Hosts that are reached without the proxy; .example.org with all below it.',
  },
  {
    key: 'log.level',
    type: 'choice',
    default: 'info',
    choices: ['debug', 'info', 'warn', 'error', 'silent'],
    description:
      'How much is written to the log on standard error. On a terminal only warnings, unless set.',
  },
] as const satisfies readonly Field[]

export type Key = (typeof fields)[number]['key']
