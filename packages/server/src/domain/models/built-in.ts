import type { ModelEntry } from '@gatehouse/contract'

/**
 * The models that this version knows by itself. Each address names a revision, so that the bytes behind it
 * cannot change; the hash would refuse them if they did.
 */
export const builtInModels: readonly ModelEntry[] = [
  {
    id: 'qwen2.5-0.5b-instruct-q4_k_m',
    url: 'https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/9217f5db79a29953eb74d5343926648285ec7e67/qwen2.5-0.5b-instruct-q4_k_m.gguf',
    sha256: '74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db',
    size_bytes: 491_400_032,
    label: 'Qwen2.5 0.5B Instruct (Q4_K_M)',
    params: '0.5B',
    license_tag: 'Apache-2.0',
    description:
      'Small enough for nearly every machine. Good for short answers and simple sorting.',
  },
  {
    id: 'qwen2.5-1.5b-instruct-q4_k_m',
    url: 'https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/91cad51170dc346986eccefdc2dd33a9da36ead9/qwen2.5-1.5b-instruct-q4_k_m.gguf',
    sha256: '6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e',
    size_bytes: 1_117_320_736,
    label: 'Qwen2.5 1.5B Instruct (Q4_K_M)',
    params: '1.5B',
    license_tag: 'Apache-2.0',
    description:
      'Follows instructions noticeably better than the smallest one, at twice the memory.',
  },
]

/** Used where an operator chose none and it is installed. No catalog has a say in it. */
export const builtInDefault: string | null = 'qwen2.5-0.5b-instruct-q4_k_m'
