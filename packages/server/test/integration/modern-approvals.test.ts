import type { Kit } from '@gatehouse/testkit'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  createTaskSessionFromClient,
  type JsonRpcResponse,
} from '@modelcontextprotocol/ext-tasks/client'
import {
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  TaskStatusNotificationV2Schema,
} from '@modelcontextprotocol/ext-tasks/core/v2'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { type Appends, line, openAppends } from '../kit/appends.ts'
import { declares, ModernPeer } from '../kit/modern-peer.ts'

// How a client of the era without a handshake learns of a decision, by what it declares.

const tool = 'filesystem__append'
const page = 'https://gate.example/'

let appends: Appends
let kit: Kit
let gateway: Gateway
const peer = (capabilities: object = declares.nothing) =>
  new ModernPeer(gateway, appends.token, capabilities)
const begin = async (approvals: 'pending' | 'hold' = 'pending') => {
  appends = await openAppends(approvals)
  kit = appends.kit
  gateway = await appends.open({}, { page: () => page })
}
beforeEach(() => begin())
const end = async () => {
  await gateway.close(0)
  await kit[Symbol.asyncDispose]()
}
afterEach(end)

/** Lets time go by, and less than this: what waits longer waits on. */
const elapseBelow = async (ms: number) => {
  for (let passedMs = 1_000; passedMs < ms; passedMs += 1_000) {
    kit.clock.move(1_000)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

const statusOf = async (id: string) => (await kit.storage.approvals.find(id))?.status

describe('tasks', () => {
  const held = async () => {
    const { result } = await peer(declares.tasks).call(tool, line)
    return CreateTaskResultV2Schema.parse(result)
  }
  const get = async (taskId: string) => {
    const { result } = await peer(declares.tasks).request('tasks/get', { taskId })
    return GetTaskResultV2Schema.parse(result)
  }

  test('a held call is a task with the id of its approval, and completes with the result', async () => {
    const task = await held()
    expect(task).toMatchObject({ resultType: 'task', status: 'working' })
    expect(task.statusMessage).toContain(`${tool} waits for a person`)
    expect(task.ttlMs).toBe(24 * 3_600_000)
    expect(await statusOf(task.taskId)).toBe('pending')
    expect(await get(task.taskId)).toMatchObject({ resultType: 'complete', status: 'working' })
    await appends.approve(task.taskId)
    expect(await get(task.taskId)).toMatchObject({
      status: 'completed',
      result: {
        resultType: 'complete',
        content: [{ type: 'text' }],
        structuredContent: { size_bytes: 4 },
      },
    })
    expect(appends.content()).toBe('one\n')
  })

  test('the same call joins the same task, and is answered at once when it is resolved', async () => {
    const { taskId } = await held()
    expect((await held()).taskId).toBe(taskId)
    await appends.approve(taskId)
    const { result } = await peer(declares.tasks).call(tool, line)
    expect(result).toMatchObject({ resultType: 'complete', structuredContent: { size_bytes: 4 } })
    expect(appends.content()).toBe('one\n')
  })

  test('a rejection completes the task with an error, with the reason of the person', async () => {
    const { taskId } = await held()
    await kit.decide(taskId, 'reject', { reason: 'Not today' })
    const task = await get(taskId)
    expect(task).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(JSON.stringify(task)).toContain('ApprovalRejected')
    expect(task.statusMessage).toContain('Not today')
  })

  test('an expired request completes the task with an error', async () => {
    const { taskId } = await held()
    kit.clock.move(25 * 3_600_000)
    await kit.resolved('alpha', taskId)
    const task = await get(taskId)
    expect(task).toMatchObject({ status: 'completed', result: { isError: true } })
    expect(JSON.stringify(task)).toContain('ApprovalExpired')
  })

  test('cancelling the task withdraws the request, and what was decided stays', async () => {
    const cancel = (taskId: string) => peer(declares.tasks).request('tasks/cancel', { taskId })
    const { taskId } = await held()
    expect((await cancel(taskId)).result).toMatchObject({ resultType: 'complete' })
    expect(await statusOf(taskId)).toBe('cancelled')
    expect(await get(taskId)).toMatchObject({ status: 'cancelled' })
    const other = await held()
    await appends.approve(other.taskId)
    expect((await cancel(other.taskId)).result).toMatchObject({ resultType: 'complete' })
    expect(await get(other.taskId)).toMatchObject({ status: 'completed' })
  })

  test('a client that does not declare them gets none, and may ask for none', async () => {
    const { result } = await peer().call(tool, line)
    expect(result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'pending_approval' },
    })
    const { approval_id } = result?.['structuredContent'] as { approval_id: string }
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      const answer = await peer().request(method, { taskId: approval_id })
      expect([answer.status, answer.error?.code]).toEqual([400, -32021])
      expect(answer.error?.data).toEqual({ requiredCapabilities: declares.tasks })
    }
    const listening = await peer().request('subscriptions/listen', {
      notifications: { taskIds: [approval_id] },
    })
    expect([listening.status, listening.error?.code]).toEqual([400, -32021])
    expect(await statusOf(approval_id)).toBe('pending')
  })

  test('an unknown task and a missing id are invalid params', async () => {
    for (const params of [{ taskId: 'appr-nothing' }, {}]) {
      const { error } = await peer(declares.tasks).request('tasks/get', params)
      expect(error?.code).toBe(-32602)
    }
  })

  test('a subscription tells of the end of a task, also of one that had ended before', async () => {
    const { taskId } = await held()
    const stream = await peer(declares.tasks).listen({ taskIds: [taskId, 'appr-nothing'] })
    expect(await stream.next('notifications/subscriptions/acknowledged')).toMatchObject({
      notifications: { taskIds: [taskId] },
    })
    await appends.approve(taskId)
    const params = await stream.next('notifications/tasks')
    const method = 'notifications/tasks'
    TaskStatusNotificationV2Schema.parse({ jsonrpc: '2.0', method, params })
    expect(params).toMatchObject({
      taskId,
      status: 'completed',
      result: { structuredContent: { size_bytes: 4 } },
    })
    await stream.leave()
    const later = await peer(declares.tasks).listen({ taskIds: [taskId] })
    expect(await later.next(method)).toMatchObject({ taskId, status: 'completed' })
    await later.leave()
  })

  test('an agent made to hold its calls open is answered by a task all the same', async () => {
    await end()
    await begin('hold')
    expect(await held()).toMatchObject({ status: 'working' })
  })
})

/** A session of the extension's own client, on top of the official one. */
const openTaskSession = async () => {
  const clientInfo = { name: 'probe', version: '1' }
  const protocolVersion = '2026-07-28'
  const client = new Client(clientInfo, {
    capabilities: declares.tasks,
    versionNegotiation: { mode: { pin: protocolVersion } },
  })
  const headers = { Authorization: `Bearer ${appends.token}` }
  const address = new URL(`${gateway.url}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
  const session = createTaskSessionFromClient(client, {
    endpointId: 'gate',
    v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities: declares.tasks },
    async rawDispatch(request) {
      const { method, params } = request as { method: string; params: Record<string, unknown> }
      const { result, error } = await peer(declares.tasks).request(method, params)
      return (
        error ? { kind: 'error', error } : { kind: 'result', result: result as never }
      ) as JsonRpcResponse
    },
  })
  return { client, session }
}

describe('the client of the tasks extension', () => {
  test('follows a held call to its result by itself', async () => {
    const { client, session } = await openTaskSession()
    const execution = await session.callTool(tool, line)
    expect(execution.kind).toBe('task')
    await appends.approve(execution.handle?.taskId ?? '')
    const { outcome } = await execution.settle()
    expect(outcome).toMatchObject({
      status: 'completed',
      result: { structuredContent: { size_bytes: 4 } },
    })
    await session.close()
    await client.close()
  })

  test('cancels it', async () => {
    const { client, session } = await openTaskSession()
    const execution = await session.callTool(tool, line)
    await execution.cancel()
    expect(await statusOf(execution.handle?.taskId ?? '')).toBe('cancelled')
    expect((await execution.settle()).outcome.status).toBe('cancelled')
    await session.close()
    await client.close()
  })

  test('is answered at once where nobody has to be asked', async () => {
    const { client, session } = await openTaskSession()
    const execution = await session.callTool('filesystem__stat', { path: line.path })
    expect(execution.kind).toBe('immediate')
    await session.close()
    await client.close()
  })
})

describe('a page for the person at the client', () => {
  const asked = async () => {
    const { result } = await peer(declares.urls).call(tool, line)
    expect(result).toMatchObject({ resultType: 'input_required' })
    const { inputRequests, requestState } = result as unknown as {
      inputRequests: Record<string, { method: string; params: Record<string, string> }>
      requestState: string
    }
    const [entry] = Object.entries(inputRequests)
    const [key, request] = entry ?? ['']
    const url = request?.params['url'] ?? ''
    return { key, request, url, requestState, id: url.split('#approval=')[1] ?? '' }
  }
  const again = (
    { key, requestState }: { key: string; requestState: string },
    action: 'accept' | 'decline' | 'cancel',
  ) => {
    const returned = { requestState, inputResponses: { [key]: { action } } }
    return peer(declares.urls).call(tool, line, returned)
  }

  test('is the dashboard, and the call that comes back has the result of the decision', async () => {
    const state = await asked()
    expect(state.request).toMatchObject({ method: 'elicitation/create', params: { mode: 'url' } })
    expect(state.url.startsWith(page)).toBe(true)
    const call = again(state, 'accept')
    await appends.approve(state.id)
    expect((await call).result).toMatchObject({
      resultType: 'complete',
      structuredContent: { size_bytes: 4 },
    })
    expect(appends.content()).toBe('one\n')
  })

  test('the call that comes back after the result was delivered elsewhere runs nothing', async () => {
    const state = await asked()
    await appends.approve(state.id)
    const first = await again(state, 'accept')
    const second = await again(state, 'accept')
    expect(second.result).toEqual(first.result)
    expect(appends.content()).toBe('one\n')
  })

  const expectPending = async (action: 'decline' | 'cancel') => {
    const state = await asked()
    const { result } = await again(state, action)
    expect(result).toMatchObject({
      structuredContent: { status: 'pending_approval', approval_id: state.id },
    })
    expect(await statusOf(state.id)).toBe('pending')
  }

  test.each(['decline', 'cancel'] as const)(
    'nobody opened it (%s): the answer is the pending one, and the request waits on',
    async (action) => {
      await expectPending(action)
    },
  )

  test('a client that nobody attends waits as any other where calls of the agent stay open', async () => {
    await end()
    await begin('hold')
    await expectPending('decline')
    const state = await asked()
    const call = again(state, 'cancel')
    await appends.approve(state.id)
    expect((await call).result).toMatchObject({ structuredContent: { size_bytes: 4 } })
  })

  test('nobody decides in time: the answer is the pending one before the client gives up', async () => {
    const state = await asked()
    const call = again(state, 'accept')
    await elapseBelow(60_000)
    expect((await call).result).toMatchObject({ structuredContent: { approval_id: state.id } })
  })

  test('a call that came back and is taken back withdraws its request', async () => {
    const { key, requestState, id } = await asked()
    const leave = new AbortController()
    const inputResponses = { [key]: { action: 'accept' } }
    const params = { name: tool, arguments: line, requestState, inputResponses }
    const call = peer(declares.urls).request('tools/call', params, leave.signal)
    call.catch(() => {})
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setTimeout(resolve, 2))
    leave.abort()
    await expect(call).rejects.toThrow()
    while ((await statusOf(id)) === 'pending') await new Promise((r) => setTimeout(r, 2))
    expect(await statusOf(id)).toBe('cancelled')
  })

  test('is not shown by a client that can follow a task', async () => {
    const { result } = await peer({ ...declares.urls, ...declares.tasks }).call(tool, line)
    expect(result).toMatchObject({ resultType: 'task' })
  })

  test('without one there is the pending answer', async () => {
    await gateway.close(0)
    gateway = await appends.open()
    const { result } = await peer(declares.urls).call(tool, line)
    expect(result).toMatchObject({ structuredContent: { status: 'pending_approval' } })
  })

  test('the official client carries it out by itself', async () => {
    const client = new Client(
      { name: 'probe', version: '1' },
      {
        capabilities: { elicitation: { url: {} } },
        versionNegotiation: { mode: { pin: '2026-07-28' } },
      },
    )
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const { url } = params as { url: string }
      await appends.approve(url.split('#approval=')[1] ?? '')
      return { action: 'accept' }
    })
    const headers = { Authorization: `Bearer ${appends.token}` }
    const address = new URL(`${gateway.url}/mcp`)
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }))
    const result = await client.callTool({ name: tool, arguments: line })
    expect(result.structuredContent).toMatchObject({ size_bytes: 4 })
    await client.close()
  })
})

describe('a call that stays open', () => {
  test('tells of its wait, and ends before its client gives up', async () => {
    await end()
    await begin('hold')
    const call = peer().call(tool, line, { _meta: { progressToken: 'p' } })
    await elapseBelow(60_000)
    const { result, told } = await call
    expect(result).toMatchObject({ structuredContent: { status: 'pending_approval' } })
    expect(told.length).toBeGreaterThan(2)
    expect(told[0]).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p' },
    })
  })
})
