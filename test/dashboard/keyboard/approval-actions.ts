import { type Action, agentOf, type World } from './world.ts'

export const approvalActions = (world: World): readonly Action[] => {
  let id = ''
  let other = ''
  const ask = (path: string) => async () => {
    id = await world.ask(path)
  }
  const statusOf = async (one: string) => (await world.api.showApproval({ id: one })).status
  const is = (status: string) => async () => (await statusOf(id)) === status
  const both = (status: string) => async () =>
    (await statusOf(id)) === status && (await statusOf(other)) === status
  const askTwo = (name: string) => async () => {
    other = await world.ask(`${name}-1.txt`)
    id = await world.ask(`${name}-2.txt`)
  }
  return [
    {
      does: 'testPolicy',
      at: '/approvals',
      first: async () => {
        for (const _time of [1, 2, 3]) {
          const approval_id = await world.ask('like.txt')
          await world.api.approveApproval({ id: approval_id })
          await world.call('approvals.wait', { approval_id, timeout_seconds: 30 })
        }
        id = await world.ask('like.txt')
      },
      by: async (keys) => {
        await keys.press('See the rule…')
        await keys.to('Write the rule')
        await keys.leave()
      },
      holds: async (api) => (await api.showPolicies()).files.every(({ agent }) => agent === null),
    },
    {
      does: 'saveAgentPolicy',
      at: '/approvals',
      by: async (keys) => {
        await keys.press('See the rule…')
        await keys.press('Write the rule')
      },
      holds: async (api) =>
        (await api.showPolicies()).files.some(
          ({ agent, text }) => agent === 'mailbot' && text.includes('like.txt'),
        ),
    },
    {
      does: 'rejectApproval',
      at: '/approvals',
      first: async () => {
        await world.api.rejectApproval({ id })
        id = await world.ask('rejected.txt')
      },
      by: async (keys) => {
        await keys.fill('Reason (the agent reads it)', 'not this one')
        // Of a form with two answers Enter must give neither.
        await keys.key('Enter')
        await keys.press('Reject')
        await keys.press('Dismiss')
      },
      holds: async (api) => {
        const { status, decision_reason } = await api.showApproval({ id })
        return status === 'rejected' && decision_reason === 'not this one'
      },
    },
    {
      does: 'approveApproval',
      at: '/approvals',
      first: ask('approved.txt'),
      by: (keys) => keys.press('Approve and run'),
      holds: is('approved'),
    },
    {
      does: 'approveApproval',
      at: '/approvals',
      first: ask('by-a.txt'),
      by: async (keys) => {
        await keys.to('Approve and run')
        await keys.key('k', 'j', 'a')
      },
      holds: is('approved'),
    },
    {
      does: 'rejectApproval',
      at: '/approvals',
      first: ask('by-r.txt'),
      by: async (keys) => {
        await keys.to('Approve and run')
        await keys.key('j', 'r')
      },
      holds: is('rejected'),
    },
    {
      does: 'approveApproval',
      at: '/approvals',
      first: ask('edited.txt'),
      by: async (keys) => {
        await world.call('filesystem.write', { path: 'three.txt', content: 'kept' })
        await keys.choose('More', 'Edit the arguments…')
        await keys.fill('Arguments (JSON)', '{ "path": "three.txt" }')
        await keys.press('Approve the edited call')
      },
      holds: async (api) => (await api.showApproval({ id })).edit !== null,
    },
    {
      does: 'approveApproval',
      at: '/approvals',
      first: ask('allowed.txt'),
      by: async (keys) => {
        await keys.choose('More', 'Allow this for a time…')
        await keys.pick('For how long', '4 hours')
        await keys.press('Approve and allow')
      },
      holds: async (api) => (await api.listGrants({})).grants.length === 1,
    },
    {
      does: 'revokeGrant',
      at: '/approvals?tab=grants',
      by: (keys) => keys.press('Revoke: filesystem.delete, mailbot'),
      holds: async (api) => (await api.listGrants({})).grants.length === 0,
    },
    {
      does: 'decideApprovals',
      at: '/approvals',
      first: askTwo('many'),
      by: async (keys) => {
        await keys.press('Select all')
        await keys.press('Clear')
        await keys.press('Select all')
        await keys.press('Approve 2')
      },
      holds: both('approved'),
    },
    {
      does: 'decideApprovals',
      at: '/approvals',
      first: askTwo('more'),
      by: async (keys) => {
        await keys.press('Select all')
        await keys.press('Reject 2')
      },
      holds: both('rejected'),
    },
    {
      does: 'pauseAgent',
      at: '/approvals',
      first: ask('five.txt'),
      by: (keys) => keys.choose('More', 'Pause mailbot'),
      holds: async () => (await agentOf(world, 'mailbot')).status === 'paused',
    },
  ]
}
