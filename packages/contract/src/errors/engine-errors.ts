import { type ErrorEntry, entry } from './error-entry.ts'

/** The engine of models. */
export const engineErrors = {
  EngineNotInstalled: entry(503, null, false, 'The engine of local models is not ready: {reason}', [
    {
      action: 'gatehouse models setup',
      description: 'An operator installs it on the machine; it says what is missing.',
    },
  ]),
  EngineSetupFailed: entry(502, null, true, 'The engine could not be installed: {detail}', [
    { action: 'gatehouse models setup', description: 'Fix the cause, then try again.' },
  ]),
  EngineFailed: entry(503, null, true, 'The engine of local models ended: {detail}', [
    {
      action: 'retry',
      description:
        'The engine restarts by itself. If it ends in the same way again, use another model.',
    },
  ]),
  EngineBusy: entry(429, null, true, 'Already {waiting} requests to local models wait: {detail}', [
    { action: 'retry', description: 'Send fewer at once, and try again when some are answered.' },
  ]),
  ModelTooLarge: entry(
    507,
    null,
    true,
    'The model {id} needs about {needs_bytes} bytes of memory, and {available_bytes} are free.',
    [{ action: 'inference.models', description: 'Use a smaller model, or free some memory.' }],
    [{ action: 'gatehouse models list', description: 'Use a smaller model, or free some memory.' }],
  ),
  ModelQuarantined: entry(409, null, false, 'The model {id} is in quarantine: {reason}', [
    {
      action: 'gatehouse models release',
      description: 'An operator releases it once the cause is known. Until then use another model.',
    },
  ]),
  NoModelChosen: entry(
    409,
    null,
    false,
    'No model is named, and none is used by default.',
    [
      { action: 'inference.models', description: 'Name one of the installed models as `model`.' },
      { action: 'gatehouse models default', description: 'An operator chooses a default.' },
    ],
    [
      { action: 'gatehouse models list', description: 'Name one of the installed models.' },
      { action: 'gatehouse models default', description: 'Choose a default.' },
    ],
  ),
  PromptTooLong: entry(413, null, false, 'The prompt is too long for {model}: {detail}', [
    { action: 'shorten it', description: 'Leave out older messages, or send it in parts.' },
  ]),
  GenerationRefused: entry(400, null, false, 'The model {model} cannot do this: {detail}', [
    { action: 'change the request', description: 'Use a simpler json_schema, or none.' },
  ]),
} as const satisfies Record<string, ErrorEntry>
