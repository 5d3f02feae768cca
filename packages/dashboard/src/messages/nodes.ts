export const nodesText = {
  title: 'Nodes',
  intro: 'Servers that share this store. Agents may connect to any of them.',
  workspaces: {
    one: '',
    shared: 'All nodes see one folder of workspaces, so calls run on any of them.',
    separate:
      "Nodes have folders of workspaces of their own: calls that reach into an agent's folders are forwarded to the node that has them.",
  },
  site: 'Workspaces',
  one: 'One node',
  oneNext: 'The store is SQLite, which has one node. On PostgreSQL others can join.',
  node: 'Node',
  this: 'answers this page',
  status: {
    active: 'Active',
    draining: 'Draining',
    stopped: 'Stopped',
    missing: 'Missing',
  },
  state: 'Status',
  address: 'Address',
  version: 'Version',
  policy: 'Policy',
  policyDiffers: 'differs from this node',
  unreachable: (name: string, reason: string) =>
    `The node that answers can't reach it, and forwards nothing there: ${reason}. Set node_url on ${name}.`,
  found: (found: { kind: string; detail: string; remedy: string }) =>
    `Found in the audit log: ${found.kind}: ${found.detail}. Next step: ${found.remedy}`,
  work: 'Runs',
  workText: (sessions: number, processes: number) =>
    `${sessions === 1 ? '1 session' : `${sessions} sessions`}, ${processes === 1 ? '1 program' : `${processes} programs`}`,
  seen: 'Last seen',
  drain: 'Drain',
  drained: (name: string) => `${name} finishes what it does and takes nothing new.`,
  resume: 'Resume',
  resumed: (name: string) => `${name} takes work.`,
  forget: 'Forget',
  forgetTitle: (name: string) => `Forget ${name}?`,
  forgetIntro: 'For a node that will not come back. Its entries of the audit log stay.',
  invite: 'Invite a node',
  inviteTitle: 'Invite a node',
  inviteIntro:
    'A token for one other machine, which then has the keys of this installation. The token before it ends.',
  url: 'Where the other machine reaches this page',
  inviteMake: 'Make the token',
  inviteOnce:
    'Whoever has this token gets the keys. It is shown once, and ends when it is used and after',
  inviteToken: 'Token',
  inviteNext: 'On the other machine, then paste the token:',
  done: 'Done',
} as const
