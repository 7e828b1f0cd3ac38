"""Words that profilers, frameworks, compilers and kernel libraries put into names, and thus tell nothing of their user.

From the names of TensorFlow's and PyTorch's ops, Keras' and torch's layers, JAX's primitives, HLO's opcodes and XLA's
passes, of CUDA's and ROCm's runtimes and libraries, of threads and stats, and from what profilers say when something
fails. In lower case.
"""

from __future__ import annotations

WORDS = frozenset(
    """
aa abc abort aborted abs absolute abstractify ac2g acc acceptable access accessed accessor accidental accum accumulate
accumulated accumulator accuracy acos acosh acquire activation activations active activity actual ad ada adadelta
adafactor adagrad adam adamax adamw adaptive add addbmm addcdiv addcmul additive addmm addmv addr address addressable
addupdate adjoint adjust af affine after afz again agent aggregate aggregator ai airy aiter alg algorithm algsimp alias
aliasing align aligna alignb aligned alike all allclose allgather alloc allocate allocated allocation allocations
allocator allow allreduce alltoall along alpha already amax ambiguous amd amin aminmax amp ampere amsgrad an analyzer
and angle annotated annotation annotations anonymous another any aot api apis append apply approx approximate arange
arbitrary arccos arccosh arcsin arcsinh arctan arctanh area arg argmax argmin args argsort argument arguments argwhere
arithmetic array arraylike arrive as asarray asgd asin asinh asm assert assertion assign assignaddvariableop assigner
assignment assignments assignsubvariableop assignvariableop astype async asyncifier at atan atanh aten atleast atomic
atomics attention attn attribute attributes attrs audio aug augment auto autocast autograd autotune autotuner autotuning
av availability available aval average averagepooling averaging avg avgpool await awaitable axes axis back backend
backends background backprop backward backwards baddbmm bag band banded bandwidth barrier bartlett base based batch
batched batches batching batchnorm bbs bcast bcastargs bce be beam because been before begin behavior bernoulli bessel
best beta betainc bf bfc bfloat bhsd bias biasadd bicubic bidirectional bilinear bin binary bincount bind binomial bit
bitcast bits bitwise bk blackman blackwell block blocking blocks blur bm bmm bmp bn body bool boolean boosted bootstrap
borrowed bottleneck bound boundaries bounding bounds box boxes branch breakdown bridge brightness broadcast broadcasting
bsc bsr bss bucket bucketize budget buffer buffered buffers build builder building built builtins bulk bundle bus busy
but bw bwd by byte bytecode bytes bz c10d cache cached cacheimpl cachemask calculate calculator call callable callback
callbacks called calls can canary cancel cancelable canceled cancellation cancelled candidate cannot canon canonical
canonicalization canonicalize canonicalized canonicalizer cap capability capacitor capacity capitalize capture captured
captures capturing cardinality cartesian cas case cast cat catarray categorical category cauchy causal cbrt cc ccol
cdist cdna ceil cell cells celu center centered cgemm chain chalf channel char chebyshev check checker checkpoint
checkpoints chip choice cholesky choose chr chunk chunks circular ck clamp cleanup clear client clients climb clip clock
clone cloned close closed closure cls cluster clz cmem cmp coalesce coalesced code codegen col collect collected
collection collective collectives collector color column columns combination combinations combine combined combiner
commit common comms communicator compact compaction compare comparison compatible compilation compile compiled compiler
compiling complete completed completion complex compleximplicit component components composable composed composite
compress compressed computation compute concat concatenate concrete cond conditional config configuration configure
confirmed conformer conj conjugate consecutive const constant constrain constraint construct consume consumer container
contains context contextlib contig contiguous continuation contrast contrastv control conv convd conversion convert
converter convolution convolutions convolve coo coop cooperative copies copy copysign core cores corrcoef correlation
cos cosh cosine cost could count counter counting counts courier cov cpp cpu cpy create creator crop cropping cross
crossentropy crossing crow cs csc cse cslt csr csv ct cta ctc ctrl cts ctx cu cub cublas cublaslt cuda cudadriver cudart
cudnn cufft cuh cummax cummaxmin cummin cumprod cumsum cumulative cunn cupti curand current cusolver cusparse custom cut
cute cutlass cwise cxx cycle cycles da data dataloader dataparallel dataset datasets datatype dawsn db dce ddp de
deadline deallocation debug decay decode decoder decompose decomposer decomposition deduplicated deduplicator deep
default defaults deferred deferring define definition defragment defun deg degenerate degeneration degrees del delay
delayed delete deleted delinearize delta denied dense densenet dep dependencies dependency dependents deprecated deps
depth depthwise dequant dequantize dequeue deref derive descent descheduler deserialize dest destination destroy
destroyed det detach detail details detector determinant deterministic dev device devices dgemm dgrad diag diagflat
diagonal dict dictcomp did diff difference differentiable digamma dilated dilation dim dimension dimensions dimi dims
dimv direct directed directory dirichlet disable discretization dispatch dispatcher dist distance distorted distributed
distribution div divide divisor divmod dlerror dll dlopen dma do doc does domain donation done dot double down
downsample downsweep dqdkdv draw driver drop dropout dropped dsizes dsplit dst dstack dto dtod dtoh dtype dtypes dual
due dummy duration dword dyld dylib dyn dynamic dynamo each eager eagerly easy echo edge edges edit edtype eff effect
efficient efficientnet efficientzerotensor eg eig eigen eigh eigvals eigvalsh einshape einsum elapsed elastic elem
element elements elementwise elems elemt elemwise elide elif elimination else elu em embed embedded embedding embeddings
embs emit emitter emitting empty enabled encode encoder encoding end ended ends endswith engine engines enhancer enqueue
enqueuing ensemble ensure enter entr entropy entry enum enumerate env environment epilogue episode epoch epochs eps eq
equal equality equalization equation erase erasing erf erfc erfcx erfinv error errors escape estimate estimator
euclidean eval evaluate evaluation evaluator even event events evict ex exact example examples exceeded except exception
excite exclude excluded exclusive exec executable execute executed executing execution executor exhausted existing
exists exit exp expand expander expandtabs expect expensive experimental expert experts expint expit explicit expm
exponential export exported ext extend extended extension extensions external extract eye fabs factor factorial fail
failed failure fake fallback false fast fastest fbgemm fc fd feature features fermi fetch ff ffi ffn ffs fft fftfreq
fftn fftnd fftshift fifo file filename files filespec fill filled filter filtered filtering final finalize find
fingerprint finish finished finite first fit fix fixed fixup flag flags flash flat flatten flattener flax flip fliplr
flipud float floatimplicit floating floatlist floats floor floordiv flops flow flush fma fmax fmha fmin fmod fn fnuz
fold folding for force forced foreach forever format fort forward found fp fprint fprop fq frac fractional fragmentation
frame framework free freeze frequency fresh fresnel frexp frobenius from fromlist frontend frozen ftrl full fully func
function functional functions functor functorch fused fusible fusion fusions future fw fwd fwdbwd fx gains game gamma
gammabeta gammainc gammaincc gammaln garbage gate gates gather gatherv gaussian gb gbps gcd gcgemm ge geglu gelu gemm
gemmk gemmsn gemv gemvx gen general generate generated generation generator generic genexpr geometric geqrf ger get
getitem gflops gfx ghz gib gif gigabytes glimpse global globalaveragepooling globalmaxpooling globals gloo gls glu gmem
gmma gpu gpus grad gradient gradients grads grams graph graphs grayscale greater greedy grid griddepcontrol group
grouped groupnorm groups grpc gru gt gtcx guarantee guaranteed guzzler gz had haiku half half2 hamming handle handler
hann hard hardshrink hardsigmoid hardswish hardtanh has hasattr hash hashed hashing have hbm hcudnn he head heartbeat
heaviside helper helpful here hermite hex hfft hfftn hfp hgemm hhs hi high hill hinge hip hipblas hipblaslt histc
histogram histogramdd hits hlo hmma hold holds hopper host hosts hot householder hpp hsa hsh hsplit hspmm hss hstack hsv
hto htod htoh huber hue hybrid hypot hz iand id identity idle ids idx if ifft ifftn ifftnd ifftshift ifrt igamma igammac
igemm ignore ihfft ihfftn ii iiiiiiiiiff iiiiiiiiiiffi ilshift im imag image imma immutable impl implemented implicit
impls import importlib in incarnation inception include included including incomplete index indexed indice indices
inductor inexact inf infeed infer inference infiniband infinitely info init initial initialization initialize
initialized initializer inject inline inliner inner inplace input inputs insd insert insertion inspect inst instance
instancecheck instant instantiate instantiated instruction instructions insufficient int integer intel interface
interior interleave intermediate internal interpolate interval intimplicit intlist into intra ints inv invalid invariant
inverse invert invoke io ior iota ipl irfft irfftn irfftnd irshift is isalnum isalpha isclose isdecimal isdigit isfinite
isidentifier isin isinf isinstance islower isnan isneginf isnot isnumeric isotonic isposinf isprintable isreal isscalar
isspace issubclass issubdtype issue istft istitle isupper it item items iter iteration iterations iterator
iteratorgetnext iterators its ixor jagged jax jaxlib jaxpr jaxtype jf jit jitted jitter job join jpeg json jvp jxl
kaiser kargs kb kd kentry kepler keras kernel kernels key keys kf kib kind kl kmc kmeans kron krsc ks kthvalue kv kwargs
label labels laguerre lambda lanczos large last latency launch launcher launches lax layer layernorm layers layout lazy
lb lbfgs lcm ld ldexp ldg ldgsts ldl lds ldw le leading leaf leaky learnable learned leaves left legacy legalize
legalizer legendre legit len length lengths lerp less level levels lgamma lhs lib libcublas libcuda libcudart libcudnn
libcupti libraries library lift light like limit limited limits lin linalg line linear linearize linearized linkage
linspace lion list listcomp listener lists lite literal live ljust ll llo llvm lm lmdb ln lo load loaded loader loading
local localhost lock log logaddexp logarithm logcumsumexp logdet logical logistic logit logits logsoftmax logspace
logsumexp long lookup lookups loop loops loss losses lost lovelace lower lowering lp lrn ls lshift lstm lstmv lstrip
lstsq lt lu main major make malloc managed manager manual many map mapping margin marker mask masked masking mat match
matched matching materialize math mathremainder matmul matrix matshapes max maximum maxpool maxpooling maxwell maybe mb
mda mdl mean measure median medium megabytes megachip megacore megascale mel mem members memcpy memcpydtod memcpydtoh
memcpyhtod memcpyhtoh memory memset memtype merge merged merger mesh meshgrid meta metadata method methods metric
metrics mfcc mgpu mh mhlo mib min minibatching minimum minor minus minute minutes miopen mirror mish mismatch miss
missing mix mixed mkl mklcpu mkldnn mlir mlp mm mma mobilenet mocked mod modality mode model models modf modified
modifier module modules moe moments momentum monitor mono monomorphic more mosaic most motion move moveaxis movedim
mover moving mpi mpmd mps ms mse msort mt mul mulhi multi multicast multideviceiteratorgetnextfromshard multigammaln
multihead multilabel multimem multinomial multiple multiples multiplies multiply multiprocessor muon mutable mutated
mutex mv mvlgamma nadam naive name named namedtuple names namespace nan nanmean nanmedian nanquantile nansum narrow
native nccl ncclkernel ncdhw ncf nchw nchwc nd ndhwc ndim ndtr ndtri ne nearest neg negate negative neighbor neighbors
nest nested new next nextafter nhwc nhwckrsc nll nn nnn nnpack nnt nnz no nocast node nodes noise non none nonfused
nontraced nonzero norm normal normalization normalized normalizer not notify np nr ns nsight nt nth ntn ntt nuclear null
nullary num numa number numel numeric numerics numpy numpyfunc nv nvfuser nvidia nvjet nvlink nvls nvtx object obs occ
occupancy oct of off offload offloader offloading offset offsets on one onednn ones onesweep only op opaque open opened
operand operation operations operator ops opt optax optim optimization optimizations optimize optimized optimizer
optional options or orbax ord ordered ordinal orgqr ormqr other out outer outfeed output outputs overhead overlap
overlapping overlaps overlay overrideable owner pack package packages packed packing pad padded padder padding pageable
pairwise pallas parallel parallelism param parameter parameterized parameters params parent parse part partial partition
partitioned partitionedcall partitioner partitioning pascal pass passed passes patches path pathways pb pbroadcast pc
pci pcie pct pdist peak peek peer pending per percent percentformat perf performance perm permission permissions
permutation permute permuted perspective pf phase philox physical picker pin pingpong pinned pinv pinverse pipeline
pipeliner pipelining pitch pivot pixel pj pjit pjrt pk placeholder placement plan planner platform please plus pmap pmax
pmin png poi point pointer points pointwise poisson polar policy polling polygamma polymorphic polynomial pool pooled
pooling pop popcnt popitem populate population position positive possible possibly post posterization potential pow
power powsum ppermute pre preassign precision precv pred predict prediction predictions preduced prefetch prefix
preflattened prelinearize prelinearized prelu prepack prepacked prepare preprocessing preserving prev prevent primal
primary primitive primitives print priority private privilege privileges prng prngkeys prob problem process prod produce
produced producer product profile profiled profiler profilerstep profiling program programs proj projection projective
prologue promote prop propagate propagation properties proposals proto protocol protos proximal prune ps psend psi psum
pt ptop ptr pu pure push put pvary pxla py pyfunc python pytorch pywrap qint qk qkv qparams qqh qr qscheme quality quant
quantile quantize quantized query queue queues quick quint quotient rad radians radix ragged ram rampup rand randint
randn random randperm range ranges rank ranking rate ravel raw rccl rd rdma rdna re read reader readvariableop ready
real reassociate rebatch recat recip reciprocal recompute record recording records recv red reduce reduced reducer
reduction reductions ref reflection regex region register registers regression regs regularization regularized release
relu rem remainder remap remapping remat rematerialization rematted remote remotecall removal remove remover renorm
reorder repeat replace replica replicas replicate replicated replication repr representation req requantization
requantize request requested requests require required requires rescale rescaling reserve reserved reset reshape
reshaping reshard residency residual resize resizing resnet resolve resource response responses restart restore restrict
result results ret retain retains retrieve return retval reuse rev reverb reverse reversible rewrite rewriter rfft
rfftfreq rfftn rfftnd rfind rgb rhs right rindex ring ringll rint rjust rm rms rmsnorm rmw rng rnn rnnv rocblas rocclr
rocm rocprof roctracer roll root rope rot rotary rotation round router row rows rowwise rpartition rpc rprop rrelu
rshift rsplit rsqrt rstrip rsub rt run runner running runpy runtime runtimes safe same sample sampled sampler sampling
saturate saturation save saver savers sb sc scal scalar scalarimplicit scalarizer scale scaled scales scaling scan
scatter schedule scheduled scheduler scheduling sciui scope scoped scramble script scripting scudnn sdca sdp sdpa search
searchsorted second seconds see seed seeds segment segments select selecting selector self selu semantics semaphore semi
send sendrecv separable seqlen sequence sequenced sequencing sequential serializable serialization serialize serialized
server servers service serving session set setdefault setter setup sflag sgd sgemm sgn shallow shape shaped shapes shard
sharded sharding shared sharpness shear shift shifted shm short shot shrink shuffle shutdown sigmoid sign signal
signature signbit signed silu similarity simple simplification simplified simplifier simplify simt sin sinc sine single
sinh sink sinker sinking site size sized sizes skip sleep sleepwalk slice slices sliding slinky slogdet slow sm small
smem smm smooth snapshot so sobol soft softmax softmin softplus softshrink softsign solarization solve sort sorted sorts
source sources sp space span spanner spans sparse sparsecore spatial spdiags spec special specs spectral spectrogram
spence spherical split splitk splitkreduce splitkv splitlines splits splitter spmd spmem sprop spsolve sql sqrt square
squared squeeze sram src sspaddmm sss sstable st stable stablehlo stack stacked stage stages standard standardization
start started startswith state stateful statefulpartitionedcall stateless states static statistics stats status std stem
step steps stft stg stitch stitched stochastic stop stopped storage store str strategy stream streams stride strided
strides strideslice string strip strong struct structure structured stub sub subclasscheck subcmul substr subtract
subtype such suggested sum summaries summary sunk support supported suppression svd svdvals swap swapaxes swapcase
swapdims swiglu swish switch switchto sym symbol symbolic symmetric sync synchronize synthetic sysmem system table take
tan tanh tanhshrink tape target task tasks tb tbc tc tcgen te temp templates temporary tensile tensor tensordot
tensorflow tensorinv tensorop tensors tensorsolve teraflops terator test tester testing tests text texture tf tfd tfe
tflops tfr tfrecord tfrt than that the then theoretical these this thnn those thread threading threadpool threads
threefry threshold thrust thunk thunks tie tile tilelevel tiles tilesize tiling time timed timeline timeout timer
timestamp title tmem tmp tn tnn tnt to tofloat token too top topk torch torchdynamo torchinductor torchvision total
tower towers tp tpu trace traceback traced traceme traceviewer tracing train trainable trained trainer training traits
transcode transfer transform transformer translate translation transpose trapezoid trapz tree trees triangular
tridiagonal trigger tril trilinear triplet triton triu trivial true truediv trunc truncate truncated try tsl tss tst
tsts tt tuple turing two txt type typed types typing ucc ufuncs uint ul ull umma unary unavailable unbatch unbind
unbounded uncompress undefined unet unflatten unfold unhandled unicode unification uniform unigram unimplemented
uninitialized unique unit units unity unknown unload unlock unmatched unnamed unpack unpin unpool unquantized unravel
unreachable unreduced unregister unroll unrolled unsafe unscale unshuffle unsigned unsorted unsqueeze unstack unstage
unsupported until unweighted unwrap unzip up update upper upsample upsampling upsweep us usage use used user using util
utilization utils vae val valid validate validated value values vander var variable variables variance variant varlen
vars vary vdot vec vecdot vector vectorization vectorized vega vendor verify version versions vgg via view vit vjp vllm
vmap vmem vocab void volatile volta volume vsplit vstack vulkan wait waiting waits warm warmup warn warning warnings
warp warpsize warpspecialized was wav weakref weaktype web weight weighted weights were wgmma wgrad where while whole wi
width window winograd with without wk wmma wo word work worker wq wr wrap wrapped wrapper write writer wrw wv xccl xdb
xdivy xdl xdlops xla xline xlog xlogy xmap xmma xor xplane xspace yes yield ynn yogi zero zeros zerotensor zeta zfill
zgemm zip zoom
    """.split()
)
