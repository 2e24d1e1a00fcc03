/** All families, in the order in which they are tried when several share an opener: structured markup before plain JSON. */

import { bare } from './families/bare.ts'
import * as json from './families/between.ts'
import { dsml, invoke, kimiK3, qwenCoder, solarOpen2, step3 } from './families/elements.ts'
import { gemma } from './families/gemma.ts'
import { harmony } from './families/harmony.ts'
import { llama3 } from './families/llama3.ts'
import { minimaxM3 } from './families/minimax-m3.ts'
import { mistral } from './families/mistral.ts'
import { glm, hunyuan } from './families/pairs.ts'
import { deepseek, functionaryV3, kimi, llamaFunction, plamo, solar } from './families/token-calls.ts'
import type { Family } from './family.ts'

export const families: readonly Family[] = [
  ...[hunyuan, qwenCoder, invoke, glm, step3],
  ...[json.apertus, json.cohere, json.commandR, deepseek, dsml, functionaryV3, json.functools, gemma, json.gigachat, json.granite, harmony],
  ...[json.hermes, json.hyperclova, json.internlm2, json.k2Horizon, kimi, kimiK3, json.lfm2, llama3, json.llama4, llamaFunction],
  ...[json.longcat, minimaxM3, mistral, json.nemotron, json.olmo, json.pangu, plamo, json.pythonicTags, json.rwkv, solar, solarOpen2],
  ...[json.toolCalls, json.toolCode, bare],
]
