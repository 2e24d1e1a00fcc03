/** Every family there is, in the order in which they are tried where several share an opener. A new family is one file and one line. */
import { apertus } from './families/apertus.ts'
import { cohere } from './families/cohere.ts'
import { commandR } from './families/command-r.ts'
import { deepseek } from './families/deepseek.ts'
import { dsml } from './families/dsml.ts'
import { functionary } from './families/functionary.ts'
import { functionaryV3 } from './families/functionary-v3.ts'
import { functools } from './families/functools.ts'
import { gemma } from './families/gemma.ts'
import { gigachat } from './families/gigachat.ts'
import { glm } from './families/glm.ts'
import { granite } from './families/granite.ts'
import { harmony } from './families/harmony.ts'
import { hermes } from './families/hermes.ts'
import { hunyuan } from './families/hunyuan.ts'
import { hyperclova } from './families/hyperclova.ts'
import { internlm2 } from './families/internlm2.ts'
import { invoke } from './families/invoke.ts'
import { k2Horizon } from './families/k2-horizon.ts'
import { kimi } from './families/kimi.ts'
import { kimiK3 } from './families/kimi-k3.ts'
import { lfm2 } from './families/lfm2.ts'
import { llamaFunction } from './families/llama-function.ts'
import { llamaJson } from './families/llama-json.ts'
import { llama3 } from './families/llama3.ts'
import { llama4 } from './families/llama4.ts'
import { longcat } from './families/longcat.ts'
import { minimaxM3 } from './families/minimax-m3.ts'
import { mistral } from './families/mistral.ts'
import { nemotron } from './families/nemotron.ts'
import { olmo } from './families/olmo.ts'
import { pangu } from './families/pangu.ts'
import { plamo } from './families/plamo.ts'
import { pythonic } from './families/pythonic.ts'
import { pythonicTags } from './families/pythonic-tags.ts'
import { qwenCoder } from './families/qwen-coder.ts'
import { rwkv } from './families/rwkv.ts'
import { solar } from './families/solar.ts'
import { solarOpen2 } from './families/solar-open2.ts'
import { step3 } from './families/step3.ts'
import { toolCalls } from './families/tool-calls.ts'
import { toolCode } from './families/tool-code.ts'
import type { Family } from './family.ts'

export const families: readonly Family[] = [
  // Markup of the most structure first: a JSON family takes what is left of a shared opener.
  hunyuan,
  qwenCoder,
  invoke,
  dsml,
  glm,
  apertus,
  cohere,
  commandR,
  step3,
  deepseek,
  functionaryV3,
  functools,
  gemma,
  gigachat,
  granite,
  harmony,
  hermes,
  hyperclova,
  internlm2,
  k2Horizon,
  kimi,
  kimiK3,
  lfm2,
  llama3,
  llama4,
  llamaFunction,
  longcat,
  minimaxM3,
  mistral,
  nemotron,
  olmo,
  pangu,
  plamo,
  pythonicTags,
  rwkv,
  solar,
  solarOpen2,
  toolCalls,
  toolCode,
  // Without markup of their own.
  pythonic,
  functionary,
  llamaJson,
]
