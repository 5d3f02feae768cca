import { pathToFileURL } from 'node:url'

/** A request that cannot be served as it is, in the words of the API that is spoken here. */
export class Refusal extends Error {
  constructor(status, code, message) {
    super(message)
    this.status = status
    this.code = code
  }
}

const stopReasons = { maxTokens: 'length' }

const historyOf = (messages) => {
  const history = messages.map(({ role, content }) =>
    role === 'assistant' ? { type: 'model', response: [content] } : { type: role, text: content },
  )
  return [...history, { type: 'model', response: [] }]
}

const normalised = (vector) => {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? [...vector] : vector.map((value) => value / length)
}

/**
 * Loads one model. `options`: `library` (folder of node-llama-cpp), `file`, `context` (tokens), `threads`.
 * What comes back generates one text at a time: the caller sees to it.
 */
export async function loadModel({ library, file, context: contextSize, threads }) {
  const { getLlama, LlamaChat, LlamaCompletion, resolveChatWrapper } = await import(
    pathToFileURL(`${library}/dist/index.js`).href
  )
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: 'error',
    maxThreads: threads,
  })
  // Mapped weights would be in memory twice: once as the file, once as repacked for this processor.
  const model = await llama.loadModel({ modelPath: file, useMmap: false, gpuLayers: 0 })
  const context = await model.createContext({ contextSize, threads, sequences: 1 })
  const sequence = context.getSequence()
  // The template of the file is a program: it is compiled once, not for each conversation.
  const chatWrapper = resolveChatWrapper(model, { warningLogs: false })
  let embedding = null

  const optionsOf = async (request, promptTokens, onText, signal) => {
    const room = context.contextSize - promptTokens
    if (room < 1)
      throw new Refusal(
        413,
        'context_length_exceeded',
        `${promptTokens} tokens of prompt, and the context holds ${context.contextSize}`,
      )
    const { max_tokens = 512, temperature = 0, seed, stop = [], json_schema } = request
    let grammar
    try {
      grammar = json_schema && (await llama.createGrammarForJsonSchema(json_schema))
    } catch (cause) {
      throw new Refusal(400, 'schema_not_supported', String(cause?.message ?? cause).slice(0, 300))
    }
    return {
      maxTokens: Math.min(max_tokens, room),
      temperature,
      ...(seed === undefined ? {} : { seed }),
      ...(stop.length > 0 ? { customStopTriggers: stop } : {}),
      ...(grammar ? { grammar } : {}),
      onTextChunk: (text) => text !== '' && onText(text),
      signal,
      stopOnAbortSignal: true,
    }
  }

  const resultOf = (text, stopReason, prompt_tokens, completion_tokens) => ({
    text,
    finish_reason: stopReasons[stopReason] ?? 'stop',
    usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
  })

  return {
    contextSize: context.contextSize,

    async chat(request, onText, signal) {
      const chatHistory = historyOf(request.messages)
      const { contextText } = chatWrapper.generateContextState({ chatHistory })
      const promptTokens = contextText.tokenize(model.tokenizer).length
      let count = 0
      const options = await optionsOf(request, promptTokens, onText, signal)
      // With an explicit history nothing is added to it: no system prompt of the library's own.
      const chat = new LlamaChat({ contextSequence: sequence, chatWrapper })
      try {
        const { response, metadata } = await chat.generateResponse(chatHistory, {
          ...options,
          // Counted here: a chunk of text may hold several tokens, or none.
          onResponseChunk: ({ tokens }) => {
            count += tokens.length
          },
        })
        return resultOf(response, metadata.stopReason, promptTokens, count)
      } finally {
        chat.dispose({ disposeSequence: false })
      }
    },

    async complete(request, onText, signal) {
      const tokens = model.tokenize(request.prompt)
      let count = 0
      const options = await optionsOf(request, tokens.length + 1, onText, signal)
      const completion = new LlamaCompletion({ contextSequence: sequence })
      try {
        const { response, metadata } = await completion.generateCompletionWithMeta(tokens, {
          ...options,
          disableContextShift: true,
          onToken: (more) => {
            count += more.length
          },
        })
        return resultOf(response, metadata.stopReason, tokens.length, count)
      } finally {
        completion.dispose({ disposeSequence: false })
      }
    },

    async embed(texts, signal) {
      embedding ??= await model.createEmbeddingContext({ contextSize, threads })
      const vectors = []
      let prompt_tokens = 0
      for (const text of texts) {
        if (signal.aborted) break
        const length = embedding.calculateInputLength(text)
        if (length > contextSize)
          throw new Refusal(
            413,
            'context_length_exceeded',
            `an input has ${length} tokens, and the context holds ${contextSize}`,
          )
        prompt_tokens += length
        vectors.push(normalised([...(await embedding.getEmbeddingFor(text)).vector]))
      }
      return { vectors, usage: { prompt_tokens, total_tokens: prompt_tokens } }
    },
  }
}
