import { z } from 'zod'
import { PermissionTier } from './capability.ts'
import { AgentName, CapabilityName, Timestamp } from './ids.ts'
import { HostPattern } from './policy.ts'

/** Name of an upstream server, and the group of its tools. */
export const UpstreamName = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,30}$/,
    'a name starts with a lowercase letter and has at most 31 of a-z, 0-9 and -',
  )
export type UpstreamName = z.infer<typeof UpstreamName>

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const withoutNul = /^[^\u0000]*$/
const text = (max: number) => z.string().max(max).regex(withoutNul, 'NUL is not allowed')
const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'expected the name of a variable')
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/, 'expected the name of a header')

/** A server that the gate starts, in the sandbox, and talks to over its standard input and output. */
export const StdioServer = z.strictObject({
  kind: z.literal('stdio'),
  /** A program on the machine: a plain name that is looked for on the PATH, or an absolute path. */
  command: text(4096).min(1),
  args: z.array(text(16_384)).max(256).default([]),
})

/** A server somewhere else, spoken to over HTTP. */
export const HttpServer = z.strictObject({
  kind: z.literal('http'),
  url: z.url({ protocol: /^https?$/ }).max(2048),
})

export const UpstreamServer = z.discriminatedUnion('kind', [StdioServer, HttpServer])
export type UpstreamServer = z.infer<typeof UpstreamServer>

export const UpstreamFolder = z.strictObject({
  path: text(4096).regex(/^\//, 'expected an absolute path'),
  read_only: z.boolean().default(true),
})

/** Parts that a server may use of this machine and its network; nothing else is within its reach. */
export const UpstreamGrants = z.strictObject({
  folders: z.array(UpstreamFolder).max(64).default([]),
  /** `host:port` that a stdio server may connect to. */
  hosts: z.array(HostPattern).max(64).default([]),
  /** Variables with values that are no secrets. */
  environment: z.record(variableName, text(16_384)).default({}),
})
export type UpstreamGrants = z.infer<typeof UpstreamGrants>

/** A credential: a value to be kept in the vault for this server, or the name of a secret that is there. */
const Credential = z.union([
  z.strictObject({ value: z.string().min(1).max(65_536) }),
  z.strictObject({ secret: z.string().min(1).max(64) }),
])

/** A secret of the vault, whose scope must name the agent, `service:upstream.<name>` and the host. */
const OwnCredential = z.strictObject({ secret: z.string().min(1).max(64) })

const credentialKey = z.union([variableName, headerName])

export const AddUpstream = z.strictObject({
  name: UpstreamName,
  server: UpstreamServer,
  grants: UpstreamGrants.prefault({}),
  /** By the variable that a stdio server reads it from, or by the header that an HTTP server wants it in. */
  credentials: z.record(credentialKey, Credential).default({}),
  /** By the agent, in place of all of `credentials`. */
  agent_credentials: z.record(AgentName, z.record(credentialKey, OwnCredential)).optional(),
  /**
   * Whether agents without credentials or a login of their own are refused. Where it is left out: if agents have
   * credentials of their own and there are no others.
   */
  own_only: z.boolean().optional(),
  /** A process, or a session over HTTP, for each agent; otherwise all agents share one. */
  per_agent: z.boolean().default(true),
  /** Connects and shows what is there; stores nothing. */
  dry_run: z.boolean().default(false),
})
export type AddUpstream = z.infer<typeof AddUpstream>

/** Changes to a server that exists; fields that are left out stay. */
export const EditUpstream = z.strictObject({
  /** By the agent: all that is its own from now on; null where it has nothing of its own any more. */
  agent_credentials: z
    .record(AgentName, z.record(credentialKey, OwnCredential).nullable())
    .optional(),
  own_only: z.boolean().optional(),
  /** Checks it and shows the server as it would be; stores nothing. */
  dry_run: z.boolean().default(false),
})
export type EditUpstream = z.infer<typeof EditUpstream>

/**
 * `offered`: accepted, and the server still has it so. `new`, `changed`, `vanished`: out of service until a
 * person has seen the difference and accepted it. `declined`: a person did not accept it, and is asked again once it is
 * something else. `refused`: it can't be offered; `problem` says why.
 */
export const UpstreamToolState = z.enum([
  'offered',
  'new',
  'changed',
  'vanished',
  'declined',
  'refused',
])
export type UpstreamToolState = z.infer<typeof UpstreamToolState>

/** Something in a definition that a person should look at before a model reads it. */
export const ToolMark = z.object({
  kind: z.enum(['control_characters', 'hidden_characters', 'instructions', 'names_other_tool']),
  detail: z.string(),
})
export type ToolMark = z.infer<typeof ToolMark>

export const UpstreamTool = z.object({
  /** Under which agents call it; null where its name can't be made to fit. */
  capability: CapabilityName.nullable(),
  /** As the server calls it. */
  tool: z.string(),
  title: z.string().nullable(),
  description: z.string(),
  state: UpstreamToolState,
  problem: z.string().nullable(),
  /** Name of the tool that stood here with the same content when it was accepted. */
  renamed_from: z.string().nullable(),
  /** From what the server says of itself. Nothing follows from it. */
  suggested_tier: PermissionTier,
  arguments: z.array(z.string()),
  marks: z.array(ToolMark),
  /** Of the definition as the server sent it. */
  definition_hash: z.string(),
  /** The definition that was accepted and the one found now, as JSON over several lines, where they differ. */
  accepted: z.string().nullable(),
  found: z.string().nullable(),
})
export type UpstreamTool = z.infer<typeof UpstreamTool>

/**
 * `ready`: its tools are offered. `needs_review`: something of it waits for a person. `failing`: the last
 * connection failed. `needs_login`: a person has to log in to it first. `unconnected`: nobody has used it since the
 * service started.
 */
export const UpstreamStatus = z.enum([
  'ready',
  'needs_review',
  'needs_login',
  'failing',
  'unconnected',
])
export type UpstreamStatus = z.infer<typeof UpstreamStatus>

/** A login that a person has done (OAuth); never a token. */
const Login = z.object({
  /** Of the authorization server. */
  issuer: z.string(),
  client_id: z.string(),
  scopes: z.array(z.string()),
  at: Timestamp,
})

/** Identity that stays as it is when the certificate of a server is renewed, and is pinned with its tools. */
export const UpstreamCertificate = z.object({
  /** Organisation that the certificate names as its owner; null for one that was given for the host alone. */
  organisation: z.string().nullable(),
  /** Name of the authority at the root of its chain. */
  authority: z.string(),
  /** SHA-256 of the public key (SPKI) of that authority, in hex. */
  authority_key: z.string(),
})
export type UpstreamCertificate = z.infer<typeof UpstreamCertificate>

/** Where each credential comes from; never its value. */
const Sources = z.record(z.string(), OwnCredential)

export const Upstream = z.object({
  name: UpstreamName,
  server: UpstreamServer,
  grants: UpstreamGrants,
  /** Of all agents that have none of their own. */
  credentials: Sources,
  agent_credentials: z.record(AgentName, Sources),
  /** Agents without credentials or a login of their own are refused. */
  own_only: z.boolean(),
  per_agent: z.boolean(),
  /** Of all agents that have none of their own. */
  login: Login.nullable(),
  agent_logins: z.record(AgentName, Login),
  status: UpstreamStatus,
  reason: z.string().nullable(),
  /** Self-description of the server. */
  identity: z.object({ name: z.string(), version: z.string(), protocol: z.string() }).nullable(),
  /** As found last; null for a server without https, and before it was asked. */
  certificate: UpstreamCertificate.nullable(),
  /** With which its tools were accepted. Where another one is found, all of them wait for a person. */
  accepted_certificate: UpstreamCertificate.nullable(),
  /** Connections that are open now. */
  connections: z.int().min(0),
  offered: z.int().min(0),
  waiting: z.int().min(0),
  declined: z.int().min(0),
  refused: z.int().min(0),
  /** Rises with every change, also of what the server has. */
  version: z.int(),
  added_at: Timestamp,
  seen_at: Timestamp.nullable(),
})
export type Upstream = z.infer<typeof Upstream>

export const UpstreamList = z.object({ upstreams: z.array(Upstream) })
export type UpstreamList = z.infer<typeof UpstreamList>

/** A server with its tools. `digest` is of what was found: who accepts it names it. */
export const UpstreamReview = z.object({
  upstream: Upstream,
  tools: z.array(UpstreamTool),
  digest: z.string(),
  /** Hosts that a stdio server tried to reach without a grant, as `host:port`. */
  hosts_refused: z.array(z.string()),
})
export type UpstreamReview = z.infer<typeof UpstreamReview>

export const AcceptUpstream = z.strictObject({
  /** Of the review that the person has seen; another one is a 409. */
  digest: z.string().min(1).max(128),
  /** Names of tools as the server calls them; all that wait where it is left out. */
  tools: z.array(z.string().min(1).max(256)).max(1024).optional(),
})
export type AcceptUpstream = z.infer<typeof AcceptUpstream>

export const DeclineUpstream = z.strictObject({
  /** Of the review that the person has seen; another one is a 409. */
  digest: z.string().min(1).max(128),
  /** Names of tools as the server calls them; all that are new or changed where it is left out. */
  tools: z.array(z.string().min(1).max(256)).max(1024).optional(),
})
export type DeclineUpstream = z.infer<typeof DeclineUpstream>

/** Page of the dashboard that takes the answer of a login. */
export const upstreamCallbackPath = '/upstreams/callback'

export const LoginUpstream = z.strictObject({
  /**
   * Where the browser brings the answer: a port on the machine of whoever logs in, or the page of the dashboard by which
   * this request reached the service.
   */
  redirect_url: z
    .string()
    .max(400)
    .regex(
      /^(?:http:\/\/127\.0\.0\.1:[1-9]\d{0,4}\/[A-Za-z0-9/_-]{0,100}|https:\/\/[^/?#@\\\s]+\/upstreams\/callback)$/,
      `expected http://127.0.0.1:PORT/…, or ${upstreamCallbackPath} of the dashboard`,
    ),
  /** The agent that it is for; all that have none of their own where it is left out. */
  agent: AgentName.optional(),
  /** Of a client that is registered at the authorization server already. */
  client_id: text(2048).min(1).optional(),
  client_secret: z.string().min(1).max(4096).optional(),
})
export type LoginUpstream = z.infer<typeof LoginUpstream>

/** A login that waits for a person with a browser. */
export const UpstreamLoginStart = z.object({
  name: UpstreamName,
  /** Where the person logs in. */
  address: z.string(),
  /** Comes back with the answer. */
  state: z.string(),
  issuer: z.string(),
  expires_at: Timestamp,
})
export type UpstreamLoginStart = z.infer<typeof UpstreamLoginStart>

export const FinishUpstreamLogin = z.strictObject({
  /** The whole address that the browser was sent to at the end. */
  redirected: z.url({ protocol: /^https?$/ }).max(8192),
})
export type FinishUpstreamLogin = z.infer<typeof FinishUpstreamLogin>

export const LogoutUpstream = z.strictObject({
  /** The agent whose own login ends; the common one where it is left out. */
  agent: AgentName.optional(),
})
export type LogoutUpstream = z.infer<typeof LogoutUpstream>

export const RemovedUpstream = z.object({ name: UpstreamName, removed: z.literal(true) })
export type RemovedUpstream = z.infer<typeof RemovedUpstream>

export const SuggestedRules = z.object({
  /** A layer of policy to read, change and keep: nothing of it holds before a person sets it. */
  policy: z.string(),
})
export type SuggestedRules = z.infer<typeof SuggestedRules>
