import { type ChangeEvent, useState } from 'react'
import { useRead } from '../api.ts'
import { common } from '../messages/common.ts'

/**
 * Choice of one agent, the first one until the person takes another: its name, empty where there is none or none is known
 * yet, and what a select shows of it.
 */
export function useAgentChoice() {
  const agents = useRead('listAgents').data?.agents
  const [taken, setTaken] = useState('')
  const agent = taken === '' ? (agents?.[0]?.name ?? '') : taken
  return {
    agent,
    field: {
      value: agent,
      hint: agents?.length === 0 ? common.noAgents : undefined,
      onChange: ({ target }: ChangeEvent<HTMLSelectElement>) => setTaken(target.value),
      options: (agents ?? []).map(({ name }) => ({ value: name, text: name })),
    },
  }
}
