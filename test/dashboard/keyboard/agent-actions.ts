import { type Action, agentOf, type World } from './world.ts'

export const agentActions = (world: World): readonly Action[] => {
  const isStatus = (status: string) => async () =>
    (await agentOf(world, 'typist')).status === status
  const menu = 'Actions for typist'
  return [
    {
      does: 'createAgent',
      at: '/agents',
      by: async (keys) => {
        await keys.press('Create an agent')
        await keys.fill('Name', 'typist')
        await keys.press('Limit its tools, folders and calls')
        await keys.press('Create an agent')
        await keys.press('Done')
      },
      holds: isStatus('active'),
    },
    {
      does: 'editAgent',
      at: '/agents',
      by: async (keys) => {
        await keys.choose(menu, 'Edit')
        await keys.fill('Purpose', 'Types')
        await keys.fill('Allowed tools', 'filesystem.*')
        await keys.press('Save')
      },
      holds: async () => {
        const { purpose, tools } = await agentOf(world, 'typist')
        return purpose === 'Types' && tools.join() === 'filesystem.*'
      },
    },
    {
      does: 'pauseAgent',
      at: '/agents',
      by: (keys) => keys.choose(menu, 'Pause'),
      holds: isStatus('paused'),
    },
    {
      does: 'resumeAgent',
      at: '/agents',
      by: (keys) => keys.choose(menu, 'Resume'),
      holds: isStatus('active'),
    },
    {
      does: 'rotateAgent',
      at: '/agents/typist',
      by: async (keys) => {
        await keys.choose(menu, 'Rotate the token')
        await keys.pick('The old token ends', 'in 1 hour')
        await keys.press('Rotate the token')
        await keys.press('Done')
      },
      holds: async () => {
        const { created_at, token_created_at } = await agentOf(world, 'typist')
        return token_created_at > created_at
      },
    },
    {
      does: 'revokeAgent',
      at: '/agents/typist',
      by: async (keys) => {
        await keys.choose(menu, 'Revoke')
        await keys.fill('Type typist to confirm', 'typist')
        await keys.press('Revoke')
      },
      holds: isStatus('revoked'),
    },
    {
      does: 'restoreAgent',
      at: '/agents/typist',
      by: async (keys) => {
        await keys.choose(menu, 'Restore with a new token')
        await keys.press('Done')
      },
      holds: isStatus('active'),
    },
  ]
}
